import Foundation
import Recollect

/// Invents chats about code: words with the frequencies of real texts (Zipf), identifiers, and a few sentences in Chinese. The
/// texts are the same in every run.
struct InventedChat {
    private var state: UInt64 = 2026
    private let words: [String]
    /// The words to choose from, frequent words many times.
    private let ranks: [Int]
    private var count = 0

    init() {
        var words = Self.frequent
        let starts = ["ka", "re", "mo", "ti", "lu", "sen", "dar", "vel", "pro", "con", "ab", "ex", "in", "over"]
        let ends = ["lin", "ter", "mas", "dor", "nik", "sal", "ver", "ton", "gra", "bel", "fis", "zor", "qua", "hem"]
        for index in 0..<starts.count * ends.count * ends.count * 8 {
            let invented =
                starts[index % 14] + ends[index / 14 % 14] + ends[index / 196 % 14]
                + ["", "s", "ed", "ing", "er", "ly", "al", "y"][index / 2744]
            // Every twelfth word is an identifier, in one of two spellings.
            let other = words[index * 7 % words.count]
            switch index % 24 {
            case 0: words.append(invented + "_" + other)
            case 12: words.append(invented + other.prefix(1).uppercased() + other.dropFirst())
            default: words.append(invented)
            }
        }
        let total = Double(words.count)
        ranks = (0..<1 << 16).map { Int(pow(total, (Double($0) + 0.5) / Double(1 << 16))) - 1 }
        self.words = words
    }

    /// Returns the next message: a short question or a longer answer.
    mutating func next() -> ConversationMessage {
        count += 1
        let isQuestion = !count.isMultiple(of: 2)
        var text = ""
        for _ in 0..<(isQuestion ? 8 + random(8) : 25 + random(40)) {
            text += words[ranks[random(ranks.count)]]
            text += random(12) == 0 ? ". " : " "
        }
        if count.isMultiple(of: 25) {
            for _ in 0..<12 { text += Self.chinese[ranks[random(ranks.count)] % Self.chinese.count] }
        }
        // In sessions of the searching user: see `fill` of the search benchmark.
        if count % 10_000 == 4_000 { text += "zanzibar" }
        return ConversationMessage(
            role: isQuestion ? .user : .assistant, text: text,
            timestamp: Date(timeIntervalSince1970: 1_700_000_000 + Double(count)))
    }

    private mutating func random(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }

    /// The most frequent first.
    private static let frequent = """
        the to a index of message and in it is that messages for with on this file as be are not from function by you \
        we can will value error if return test when data should code use used line type string server client store so \
        one was but run set list name open save read write there their then first last new only after before while \
        WebSocketTask save_messages persistence persisted fetchAllChats socket_timeout persist connection session \
        agent history search query database commit transaction window token retry latency
        """.split(separator: " ").map(String.init)

    private static let chinese = """
        的 我们 可以 数据 消息 这个 没有 保存 时候 问题 使用 需要 文件 如果 会话 搜索 所以 索引 因为 用户 代码 测试 错误 服务 连接 \
        时间 结果 方法 程序 系统 记录 读取 写入 打开 关闭 历史 内容 信息 工作 开始 结束 现在 已经 还是 但是 自己 什么 怎么 知道 可能
        """.split(separator: " ").map(String.init)
}
