#if !canImport(Darwin)
    import Foundation
    import RecollectTestSupport
    import Testing

    @testable import RecollectCore

    @Suite("User defaults shared by processes", .needs(.processes))
    struct SharedSuiteTests {
        private let suite = DefaultsSuite()
        private let store: UserDefaultsChatStorage

        init() {
            store = UserDefaultsChatStorage(suiteName: suite.name, sameRole: .keep)
        }

        private func worker(_ writer: String, _ count: Int) throws -> Worker {
            try Worker(["append", "defaults:\(suite.name)", "a", writer, "\(count)", "0", "0"])
        }

        @Test("Messages saved by another process are read, and stay at the next save")
        func meanwhile() async throws {
            try await store.save(turn(1))
            let worker = try worker("w", 2)
            #expect(await worker.finish() == ["saved 0", "saved 1"])
            let theirs = ["w-0-q", "w-0-a", "w-1-q", "w-1-a"]
            #expect(try await store.load().map(\.id) == turn(1).map(\.id) + theirs)
            try await store.save(turn(2))
            #expect(try await store.load().map(\.id) == turn(1).map(\.id) + theirs + turn(2).map(\.id))
        }

        @Test("Processes that save concurrently lose nothing of each other's messages")
        func together() async throws {
            let workers = try (0..<3).map { try worker("w\($0)", 20) }
            for number in 0..<20 { try await store.save(turn(number)) }
            for worker in workers { #expect(await worker.finish().count == 20) }
            let ids = try await UserDefaultsChatStorage(suiteName: suite.name).load().map(\.id)
            let theirs = (0..<3).flatMap { writer in
                (0..<20).flatMap { ["w\(writer)-\($0)-q", "w\(writer)-\($0)-a"] }
            }
            #expect(Set(ids) == Set(turns(0..<20).map(\.id) + theirs) && ids.count == 160)
        }
    }
#endif
