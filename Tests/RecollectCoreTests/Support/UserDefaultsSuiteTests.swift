#if !canImport(Darwin)
    import Foundation
    import RecollectTestSupport
    import Testing

    @testable import RecollectCore

    @Suite("The file of a suite of user defaults")
    struct UserDefaultsSuiteTests {
        private let name = "recollect-\(UUID().uuidString)"

        private func values() throws -> [String: String]? {
            let data = try Data(contentsOf: UserDefaultsSuite.file(of: name))
            return try PropertyListSerialization.propertyList(from: data, options: [], format: nil) as? [String: String]
        }

        private func number(of url: URL) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: url.path)[.systemFileNumber] as? Int
        }

        @Test("is replaced by one with what others wrote, the moment a store has saved")
        func replaced() async throws {
            let url = try UserDefaultsSuite.file(of: name)
            defer { try? FileManager.default.removeItem(at: url) }
            let foundation = try #require(UserDefaults(suiteName: name))
            foundation.set("theirs", forKey: "other")
            foundation.synchronize()
            #expect(try values() == ["other": "theirs"])
            let old = try number(of: url)
            let suite = UserDefaultsSuite(name: name)
            suite["mine"] = "1"
            suite["gone"] = "2"
            try suite.save()
            #expect(try number(of: url) != old)
            suite["gone"] = nil
            try suite.save()
            #expect(try values() == ["other": "theirs", "mine": "1"])
            #expect(foundation.string(forKey: "mine") == "1" && foundation.object(forKey: "gone") == nil)
        }

        @Test("a save that fails says so, and changes nothing")
        func failing() async throws {
            let url = try UserDefaultsSuite.file(of: name)
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: url) }
            let chat = UserDefaultsChatStorage(suiteName: name)
            await #expect(throws: RecollectError.self) { try await chat.save(turn(1)) }
            #expect(try await chat.load() == [])
            let sessions = UserDefaultsSessionStorage(suiteName: name)
            await #expect(throws: RecollectError.self) { try await sessions.saveSession(id: "a", firstMessage: "") }
            #expect(try await sessions.getAllSessions().isEmpty)
            try FileManager.default.removeItem(at: url)
            try await chat.save(turn(1))
            #expect(try await chat.load() == turn(1))
        }

        @Test("that cannot be read stays as it is")
        func damaged() async throws {
            let url = try UserDefaultsSuite.file(of: name)
            defer { try? FileManager.default.removeItem(at: url) }
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("not a list".utf8).write(to: url)
            let error = await #expect(throws: RecollectError.self) {
                try await UserDefaultsChatStorage(suiteName: name).save(turn(1))
            }
            #expect(error?.code == .damaged)
            #expect(try Data(contentsOf: url) == Data("not a list".utf8))
        }

        @Test("whose name no file can have is told", arguments: ["../x", String(repeating: "x", count: 251)])
        func names(_ name: String) async throws {
            let error = await #expect(throws: RecollectError.self) {
                try await UserDefaultsChatStorage(suiteName: name).save(turn(1))
            }
            #expect(error?.code == .invalidArgument)
        }
    }
#endif
