import Foundation
import Logging
import Recollect
import RecollectTestSupport
import RecollectTesting
import Testing

/// The wrappers of chat storages, configured to change nothing: summaries begin only above the trigger.
enum Wrapper: String, CaseIterable, CustomStringConvertible {
    case transforming, summarizing, logging, caching

    var description: String { rawValue }

    func wrap(_ storage: any ChatStorage) -> any ChatStorage {
        switch self {
        case .transforming: TransformingChatStorage(wrapping: storage) { $0 }
        case .summarizing: SummarizingChatStorage(wrapping: storage, triggerAt: .max) { _, _ in "" }
        case .logging:
            LoggingChatStorage(
                wrapping: storage, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        case .caching: CachingChatStorage(wrapping: storage)
        }
    }

    /// All orders of all wrappers, the outermost last.
    static let orders = permutations(of: allCases)

    private static func permutations(of wrappers: [Wrapper]) -> [[Wrapper]] {
        guard !wrappers.isEmpty else { return [[]] }
        return wrappers.flatMap { last in
            permutations(of: wrappers.filter { $0 != last }).map { $0 + [last] }
        }
    }
}

extension [Wrapper] {
    func wrap(_ storage: any ChatStorage) -> any ChatStorage {
        reduce(storage) { $1.wrap($0) }
    }
}

@Suite("Wrappers of chat storages", .needs(.time))
struct OurWrappersTests {
    /// All wrappers in two opposite orders: summaries of cached messages, and cached summaries. Each order has all four
    /// wrappers, so single wrappers are not tested over these stores.
    private static let opposite = [Wrapper.orders[0], Wrapper.orders[23]]

    /// With a compaction, `fetch` of a summarizing wrapper returns its summary: that is the purpose of this wrapper.
    private static let exceptions = ["compaction.keepsMessages"]

    @Test("All wrappers in every order conform over a store in memory", arguments: Wrapper.orders)
    func everyOrder(_ order: [Wrapper]) async {
        let report = await ChatStorageConformance.report(includingLong: false) { order.wrap(InMemoryChatStorage()) }
        #expect(report.failures.map(\.check) == Self.exceptions, "\(report)")
    }

    @Test("All wrappers conform over a store in memory with repeated roles", arguments: Self.opposite)
    func everyRole(_ order: [Wrapper]) async {
        let report = await ChatStorageConformance.report(
            capabilities: .standard.subtracting(.dropsSameRole), includingLong: false
        ) { order.wrap(InMemoryChatStorage(sameRole: .keep)) }
        #expect(report.failures.map(\.check) == Self.exceptions, "\(report)")
    }

    @Test("All wrappers conform over files", arguments: Self.opposite)
    func files(_ order: [Wrapper]) async {
        let fixture = StoreFixture<any ChatStorage>.inFolders {
            order.wrap(FileChatStorage(baseURL: $0, durability: .relaxed))
        }
        let report = await ChatStorageConformance.report(on: fixture, includingLong: false)
        #expect(report.failures.map(\.check) == Self.exceptions, "\(report)")
    }

    @Test("All wrappers conform over a history on disk", arguments: Self.opposite)
    func device(_ order: [Wrapper]) async {
        let fixture = StoreFixture<any ChatStorage>.inFolders { folder in
            let history = SQLiteHistoryStore(
                directory: folder, configuration: HistoryConfiguration(durability: .relaxed))
            return PerUserChatStorage { order.wrap(DeviceChatStorage(history: history, userId: $0)) }
        }
        let report = await ChatStorageConformance.report(on: fixture, includingLong: false)
        #expect(report.failures.map(\.check) == Self.exceptions, "\(report)")
    }

    @Test("A text transformation conforms for unchanged text")
    func scrubber() async {
        let report = await ChatStorageConformance.report(includingLong: false) {
            TransformingChatStorage(wrapping: InMemoryChatStorage()) { message in
                message.mappingText { $0.replacing(#/\b\d{16}\b/#, with: "[card]") }
            }
        }
        #expect(report.isConforming, "\(report)")
    }

    @Test("A low summary trigger changes the windows of agents, but not the merged view")
    func summaries() async {
        let report = await ChatStorageConformance.report(includingLong: false) {
            SummarizingChatStorage(wrapping: InMemoryChatStorage(), triggerAt: 2, keepLast: 1) { _, _ in "summary" }
        }
        let failed = Set(report.failures.map(\.check))
        #expect(failed.contains("window.nilKeepsAll"))
        #expect(!failed.contains { $0.hasPrefix("attribution.") || $0.contains("erge") }, "\(report)")
    }
}
