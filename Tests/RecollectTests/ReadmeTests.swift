import Foundation
import Recollect
import Testing

@Suite("The README")
struct ReadmeTests {
    private let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    @Test("shows the sample that is compiled here, word for word")
    func sample() throws {
        let root = here.deletingLastPathComponent().deletingLastPathComponent()
        let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        let code = try String(contentsOf: here.appendingPathComponent("ReadmeSample.swift"), encoding: .utf8)
        #expect(readme.contains("```swift\n\(code)```\n"))
    }

    @Test("tells what its sample does, and the sample may run again")
    func runs() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recollect-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        for run in 1...2 {
            try await remember(in: folder)
            let chat = DeviceChatStorage(history: SQLiteHistoryStore(directory: folder), userId: "ana")
            let all = try await chat.fetchAllChats(userId: "ana", sessionId: "trip")
            #expect(all.count == 2 * run)
            #expect(all[1].text == "[researcher] Nobody answers its pings.")
        }
        let hits = try await SQLiteHistoryStore(directory: folder).search(SearchQuery(userId: "ana", text: "socket"))
        #expect(
            hits.elements.map { $0.snippet.marked() }
                == Array(repeating: "Why does the Web«Socket»Task close?", count: 2))
    }
}
