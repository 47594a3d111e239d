#if !canImport(Darwin)
    import Foundation
    import RecollectTestSupport
    import Testing

    @testable import RecollectCore

    @Suite("User defaults suite files")
    struct UserDefaultsSuiteTests {
        private let name = "recollect-\(UUID().uuidString)"

        private func values() throws -> [String: String]? {
            let data = try Data(contentsOf: UserDefaultsSuite.file(of: name))
            return try PropertyListSerialization.propertyList(from: data, options: [], format: nil) as? [String: String]
        }

        private func number(of url: URL) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: url.path)[.systemFileNumber] as? Int
        }

        @Test("A save replaces the file at once and keeps the values of other writers")
        func replaced() async throws {
            let url = try UserDefaultsSuite.file(of: name)
            defer { try? FileManager.default.removeItem(at: url) }
            let foundation = try #require(UserDefaults(suiteName: name))
            foundation.set("theirs", forKey: "other")
            foundation.synchronize()
            #expect(try values() == ["other": "theirs"])
            let old = try number(of: url)
            let suite = UserDefaultsSuite(name: name)
            try await suite.run(making: true) {
                suite["mine"] = "1"
                suite["gone"] = "2"
                try suite.save()
            }
            #expect(try number(of: url) != old)
            try await suite.run {
                suite["gone"] = nil
                #expect(suite["gone"] == nil && Set(suite.keys) == ["other", "mine"])
                try suite.save()
                suite["unsaved"] = "3"
                #expect(suite["unsaved"] as? String == "3" && Set(suite.keys) == ["other", "mine", "unsaved"])
            }
            #expect(try await suite.run { Set(suite.keys) } == ["other", "mine"])
            #expect(try values() == ["other": "theirs", "mine": "1"])
            foundation.set("theirs again", forKey: "other")
            foundation.synchronize()
            #expect(foundation.string(forKey: "mine") == "1" && foundation.object(forKey: "gone") == nil)
            #expect(try values() == ["other": "theirs again", "mine": "1"])
        }

        @Test(
            "A save keeps all values if another program is writing the file, or was killed while it did",
            arguments: [true, false])
        func emptied(isWrittenAgain: Bool) async throws {
            let url = try UserDefaultsSuite.file(of: name)
            defer { try? FileManager.default.removeItem(at: url) }
            let suite = UserDefaultsSuite(name: name)
            try await suite.run(making: true) {
                suite["first"] = "1"
                try suite.save()
            }
            let whole = try Data(contentsOf: url)
            // `synchronize` empties the file before it writes it.
            try FileHandle(forWritingTo: url).truncate(atOffset: 0)
            // A thread of its own: the pool of tasks may be busy for longer than a file is read again.
            let written = Gate()
            Thread.detachNewThread {
                usleep(60_000)
                #expect(throws: Never.self) {
                    if isWrittenAgain { try FileHandle(forWritingTo: url).write(contentsOf: whole) }
                }
                written.open()
            }
            // Another instance knows the values only from the file.
            let writer = isWrittenAgain ? UserDefaultsSuite(name: name) : suite
            try await writer.run(making: true) {
                writer["second"] = "2"
                try writer.save()
            }
            try await written.wait()
            #expect(try values() == ["first": "1", "second": "2"])
        }

        @Test("A changed file is read again, and a read creates no file")
        func changed() async throws {
            let url = try UserDefaultsSuite.file(of: name)
            defer { try? FileManager.default.removeItem(at: url) }
            let suites = (0..<2).map { _ in UserDefaultsSuite(name: name) }
            #expect(try await suites[0].run { suites[0].keys.isEmpty })
            #expect(!FileManager.default.fileExists(atPath: url.path))
            for number in 0..<50 {
                let (writer, reader) = (suites[number % 2], suites[(number + 1) % 2])
                try await writer.run(making: true) {
                    writer["number"] = number
                    try writer.save()
                }
                if number % 10 == 0 {
                    // Old enough to be recognized by its time stamp.
                    let old = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: -10)]
                    try FileManager.default.setAttributes(old, ofItemAtPath: url.path)
                }
                for _ in 0..<2 { #expect(try await reader.run { reader["number"] as? Int } == number) }
            }
        }

        @Test("A failed save throws and changes nothing")
        func failing() async throws {
            let url = try UserDefaultsSuite.file(of: name)
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: url) }
            let chat = UserDefaultsChatStorage(suiteName: name)
            await #expect(throws: RecollectError.self) { try await chat.save(turn(1)) }
            await #expect(throws: RecollectError.self) { try await chat.load() }
            let sessions = UserDefaultsSessionStorage(suiteName: name)
            await #expect(throws: RecollectError.self) { try await sessions.saveSession(id: "a", firstMessage: "") }
            await #expect(throws: RecollectError.self) { try await sessions.getAllSessions() }
            try FileManager.default.removeItem(at: url)
            try await chat.save(turn(1))
            #expect(try await chat.load() == turn(1))
        }

        @Test("An unreadable file throws and stays unchanged")
        func damaged() async throws {
            let url = try UserDefaultsSuite.file(of: name)
            defer { try? FileManager.default.removeItem(at: url) }
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("not a list".utf8).write(to: url)
            let store = UserDefaultsChatStorage(suiteName: name)
            for call in [{ _ = try await store.load() }, { try await store.save(turn(1)) }] {
                #expect(await #expect(throws: RecollectError.self) { try await call() }?.code == .damaged)
            }
            #expect(try Data(contentsOf: url) == Data("not a list".utf8))
        }

        @Test("A file too large to read throws and stays unchanged")
        func tooLarge() async throws {
            let url = try UserDefaultsSuite.file(of: name)
            defer { try? FileManager.default.removeItem(at: url) }
            let store = UserDefaultsChatStorage(suiteName: name)
            try await store.save(turn(1))
            let handle = try FileHandle(forWritingTo: url)
            defer { try? handle.close() }
            try handle.truncate(atOffset: 300 << 30)
            for call in [{ _ = try await store.load() }, { try await store.save(turn(2)) }] {
                #expect(await #expect(throws: RecollectError.self) { try await call() }?.code == .tooLarge)
            }
            #expect(try handle.seekToEnd() == 300 << 30)
        }

        @Test(
            "On a full disk, a damaged chat is read, and its value stays until it can be set aside",
            .needs(.tinyDisk))
        func damagedOnFullDisk() async throws {
            let folder = try TemporaryFolder()
            let disk = try TinyDisk(at: folder.url.appendingPathComponent("disk"), kilobytes: 64)
            let link = try UserDefaultsSuite.file(of: name)
            try FileManager.default.createDirectory(
                at: link.deletingLastPathComponent(), withIntermediateDirectories: true)
            let target = disk.url.appendingPathComponent("defaults.plist")
            try Data().write(to: target)
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
            defer { try? FileManager.default.removeItem(at: link) }

            let store = UserDefaultsChatStorage(suiteName: name)
            try await store.save(turns(1...2))
            let suite = UserDefaultsSuite(name: name)
            let key = "recollect.chat/u/s/a"
            let torn = try await suite.run {
                let torn = (try #require(suite[key] as? Data)).dropLast(3)
                suite[key] = torn
                try suite.save()
                return torn
            }
            disk.fill()
            let before = try Data(contentsOf: target)
            for _ in 0..<3 { #expect(try await store.load() == turns(1...2).dropLast()) }
            #expect(await #expect(throws: RecollectError.self) { try await store.save(turn(3)) }?.code == .diskFull)
            #expect(try Data(contentsOf: target) == before)
            #expect(store.events.takeUndelivered().map(\.recoveredMessages) == [3])

            try FileManager.default.removeItem(at: disk.url.appendingPathComponent("filler"))
            try await store.save([turn(2)[1]] + turn(3))
            #expect(try await UserDefaultsChatStorage(suiteName: name).load() == turns(1...3))
            let asides = try await suite.run {
                suite.keys.filter { $0.hasPrefix("recollect.aside/\(key)/") }.map { suite[$0] as? Data }
            }
            #expect(asides == [torn])
        }

        @Test("A file that becomes unreadable after sessions are listed posts an event")
        func damagedMeanwhile() async throws {
            let url = try UserDefaultsSuite.file(of: name)
            defer { try? FileManager.default.removeItem(at: url) }
            let sessions = UserDefaultsSessionStorage(suiteName: name)
            try await sessions.updateSessionMessages(id: "s", messages: [ChatMessage(role: .user, content: "hello")])
            let key = "recollect.session/s"
            let suite = UserDefaultsSuite(name: name)
            try await suite.run {
                suite[key] = (suite[key] as? Data)?.dropLast(3)
                try suite.save()
            }
            let listed = try await sessions.getAllSessions()
            try Data("not a list".utf8).write(to: url)
            let messages = await Task.detached { listed[0].messages }.value
            #expect(messages.isEmpty)
            #expect(sessions.events.takeUndelivered().map(\.kind) == [.unreadableSession])
        }

        @Test(
            "Damage in a file that cannot be replaced is reported once, and set aside when possible",
            .needs(.bindMount))
        func damagedAndFixed() async throws {
            let url = try UserDefaultsSuite.file(of: name)
            defer { try? FileManager.default.removeItem(at: url) }
            let sessions = UserDefaultsSessionStorage(suiteName: name)
            try await sessions.updateSessionMessages(id: "s", messages: [ChatMessage(role: .user, content: "hello")])
            let key = "recollect.session/s"
            let suite = UserDefaultsSuite(name: name)
            try await suite.run {
                suite[key] = (suite[key] as? Data)?.dropLast(3)
                try suite.save()
            }
            func asideCount() async throws -> Int {
                try await suite.run { suite.keys.count { $0.hasPrefix("recollect.aside/") } }
            }
            // No file can replace a mount point.
            var mount: BindMount? = try BindMount(of: url, at: url)
            for _ in 0..<3 { _ = try await sessions.getSession(id: "s") }
            #expect(mount != nil)
            #expect(try await asideCount() == 0)
            mount = nil
            for _ in 0..<2 { _ = try await sessions.getSession(id: "s") }
            #expect(try await asideCount() == 1)
            #expect(sessions.events.takeUndelivered().map(\.kind) == [.salvaged])
        }

        @Test(
            "The file's path is the one that Foundation uses",
            arguments: [
                (["HOME": "/home/ann"], "/home/ann/.config"), ([:], "/.config"), (["HOME": ""], "/.config"),
                (["HOME": "ann"], FileManager.default.currentDirectoryPath + "/ann/.config"),
                (["HOME": "/home/ann", "XDG_CONFIG_HOME": "/nowhere/x"], "/nowhere/x"),
                (["HOME": "/home/ann", "XDG_CONFIG_HOME": "x"], "/home/ann/.config"),
                (["HOME": "/home/ann", "XDG_CONFIG_HOME": ""], "/home/ann/.config"),
            ])
        func expectFolder(_ environment: [String: String], _ folder: String) throws {
            #expect(try UserDefaultsSuite.file(of: "suite", environment: environment).path == folder + "/suite.plist")
        }

        @Test("A save removes the temporary file of a killed save, and no other file")
        func leftovers() async throws {
            let url = try UserDefaultsSuite.file(of: name)
            let config = url.deletingLastPathComponent()
            let store = UserDefaultsChatStorage(suiteName: name)
            try await store.save(turn(1))
            let half = config.appendingPathComponent(".recollect-\(UUID().uuidString)")
            let theirs = config.appendingPathComponent(".recollect-of-\(name)")
            defer { for file in [url, half, theirs] { try? FileManager.default.removeItem(at: file) } }
            for file in [half, theirs] { try Data("half".utf8).write(to: file) }
            try await store.save(turn(2))
            #expect(!FileManager.default.fileExists(atPath: half.path))
            #expect(FileManager.default.fileExists(atPath: theirs.path))
        }

        @Test("A suite name that no file can have throws", arguments: ["../x", String(repeating: "x", count: 251)])
        func names(_ name: String) async throws {
            let error = await #expect(throws: RecollectError.self) {
                try await UserDefaultsChatStorage(suiteName: name).save(turn(1))
            }
            #expect(error?.code == .invalidArgument)
        }
    }
#endif
