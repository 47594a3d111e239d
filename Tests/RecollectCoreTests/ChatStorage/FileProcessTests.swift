import Foundation
import RecollectFileSystem
import RecollectTestSupport
import Testing

@testable import RecollectCore

@Suite("Concurrent processes, faults and the cost of a save", .needs(.processes))
struct FileProcessTests {
    private let folder: TemporaryFolder
    private let store: FileChatStorage

    init() throws {
        folder = try TemporaryFolder()
        store = FileChatStorage(baseURL: folder.url, sameRole: .keep)
    }

    /// The turns that a worker acknowledged.
    private func saved(_ lines: [String]) -> Set<Int> {
        Set(lines.compactMap { $0.hasPrefix("saved ") ? Int($0.dropFirst(6)) : nil })
    }

    /// Checks that a scope holds every acknowledged turn once and complete, each writer's in order.
    private func check(_ acknowledged: [String: Set<Int>], in messages: [ConversationMessage]) throws {
        let ids = messages.map(\.id)
        try #require(Set(ids).count == ids.count, "no message is stored twice")
        var last: [Substring: Int] = [:]
        var position = 0
        while position < ids.count {
            let parts = ids[position].split(separator: "-")
            try #require(position + 1 < ids.count && parts[2] == "q")
            try #require(ids[position + 1] == "\(parts[0])-\(parts[1])-a", "batches stay together")
            let number = try #require(Int(parts[1]))
            try #require(number > last[parts[0], default: -1])
            last[parts[0]] = number
            position += 2
        }
        let stored = Set(ids)
        for (writer, turns) in acknowledged {
            try #require(turns.allSatisfy { stored.contains("\(writer)-\($0)-q") }, "no acknowledged turn is lost")
        }
    }

    @Test("Concurrent processes lose nothing, and a concurrent reader sees only whole batches")
    func together() async throws {
        let workers = try (0..<3).map { try Worker(["append", folder.url.path, "a", "w\($0)", "150", "0", "0"]) }
        for number in 0..<100 {
            try await store.save([
                ConversationMessage(id: "me-\(number)-q", role: .user, text: ""),
                ConversationMessage(id: "me-\(number)-a", role: .assistant, text: ""),
            ])
            try check([:], in: try await FileChatStorage(baseURL: folder.url).load())
            try check(["me": Set(0...number)], in: try await store.load())
        }
        for worker in workers {
            #expect(saved(await worker.finish()) == Set(0..<150))
            #expect(worker.endedWell)
        }
        let all = Set(0..<150)
        try check(["w0": all, "w1": all, "w2": all, "me": Set(0..<100)], in: try await store.load())
        #expect(try await store.load().count == 2 * 550)
        #expect(try folder.names() == ["a.json"])
    }

    @Test("Under the shared lock, the file is always one JSON array, while other processes append and trim")
    func validUnderLock() async throws {
        let worker = try Worker(["append", folder.url.path, "a", "w", "400", "6", "500"])
        _ = await worker.wait(forLines: 1)
        let session = folder.file().deletingLastPathComponent()
        for _ in 0..<200 {
            let locked = try OpenFolder(path: session.path)
            try locked.lock(exclusively: false)
            let array = try JSONSerialization.jsonObject(with: Data(contentsOf: folder.file())) as? [Any]
            // The writer holds the lock from an append to its trim, so that a reader sees no more than the window.
            let count = try #require(array?.count)
            try #require(count > 0 && count <= 6)
        }
        #expect(saved(await worker.finish()).count == 400)
        #expect(try await store.load().map(\.id).suffix(2) == ["w-399-q", "w-399-a"])
    }

    @Test("A process killed at any time loses at most the turn being saved")
    func killed() async {
        await Seeds.run(1) { seed in
            let agent = "\(seed)"
            var acknowledged: [String: Set<Int>] = [:]
            var generator = SeededGenerator(seed: seed)
            for run in 0..<25 {
                let worker = try Worker(["append", folder.url.path, agent, "w\(run)", "1000", "0", "90"])
                _ = await worker.wait(forLines: Int.random(in: 1...60, using: &generator))
                worker.kill()
                acknowledged["w\(run)"] = saved(await worker.finish())
                try check(acknowledged, in: try await store.load(agent: agent))
            }
            try check(acknowledged, in: try await FileChatStorage(baseURL: folder.url).load(agent: agent))
        }
    }

    @Test(
        "A process killed at each of its writes and syncs loses at most the turn being saved",
        .needs(.strace))
    func killedAtEachCall() async throws {
        let strace = try #require(strace)
        var kills = 0
        for call in ["pwrite64", "fdatasync", "fsync", "renameat", "mkdirat"] {
            for count in 1... {
                let agent = "\(call)\(count)"
                let base = folder.url.appendingPathComponent(agent)
                let tracer = [strace, "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)"]
                let options = ["-e", "inject=\(call):signal=KILL:when=\(count)"]
                // The third turn trims; a later turn moves the window to a new file.
                let worker = try Worker(["append", base.path, "a", "w", "9", "4", "4000"], under: tracer + options)
                let turns = saved(await worker.finish())
                let messages = try await FileChatStorage(baseURL: base).load()
                try check(["w": Set(turns.sorted().suffix(1))], in: messages)
                try #require(messages.count >= min(4, turns.count * 2))
                if turns.count == 9 { break }
                kills += 1
            }
        }
        #expect(kills > 30)
    }

    @Test(
        "A save with a failed sync throws and saves nothing; the next attempt saves it",
        .needs(.strace), arguments: ["fdatasync", "pwrite64", "fsync"])
    func syncFails(call: String) async throws {
        let strace = try #require(strace)
        for fault in ["when=2", "when=3", "when=2..4", "when=1..3"] {
            let base = folder.url.appendingPathComponent(fault)
            let options = [
                "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e", "inject=\(call):error=EIO:\(fault)",
            ]
            let worker = try Worker(["insist", base.path, "a", "6"], under: [strace] + options)
            let lines = await worker.finish()
            #expect(worker.endedWell && saved(lines) == Set(0..<6))
            #expect(
                lines.contains { $0.hasPrefix("failed ") && $0.hasSuffix(" inputOutput") }, "\(call) \(fault): \(lines)"
            )
            let store = FileChatStorage(baseURL: base)
            try check(["a": Set(0..<6)], in: try await store.load())
            #expect(try await store.load().count == 12)
            let names = try FileManager.default.contentsOfDirectory(atPath: base.appendingPathComponent("u/s").path)
            #expect(names == ["a.json"], "nothing is left to repair")
        }
    }

    @Test(
        "A reader does not see a save that failed to sync",
        .needs(.strace))
    func failedIsNotKept() async throws {
        let strace = try #require(strace)
        // The first save syncs twice for its file, so that the fourth sync is the commit of the second save.
        let options = [
            "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync", "-e", "inject=fdatasync:error=EIO:when=4",
        ]
        let worker = try Worker(["append", folder.url.path, "a", "w", "2", "0", "0"], under: [strace] + options)
        #expect(saved(await worker.finish()) == [0] && !worker.endedWell)
        #expect(try await store.load().map(\.id) == ["w-0-q", "w-0-a"])
    }

    @Test(
        "Each kind of failure has its own error code", .needs(.strace),
        arguments: [
            ("openat", "EMFILE", "tooManyOpenFiles"), ("openat", "EACCES", "permissionDenied"),
            ("openat", "EIO", "inputOutput"),
            ("pwrite64", "EDQUOT", "diskFull"), ("pwrite64", "EROFS", "readOnly"),
        ])
    func codes(call: String, failure: String, code: String) async throws {
        let strace = try #require(strace)
        try await store.save([ConversationMessage(id: "1", role: .system, text: "")])
        let session = folder.file().deletingLastPathComponent().path
        let options = ["-f", "-qq", "-o", "/dev/null", "-P", session, "-P", session + "/a.json", "-e", "trace=\(call)"]
        let fault = ["-e", "inject=\(call):error=\(failure):when=1"]
        let lines = try await Worker(["insist", folder.url.path, "a", "1"], under: [strace] + options + fault).finish()
        #expect(lines == ["failed 0 \(code)", "saved 0"])
        #expect(try await store.load().count == 3)
    }

    @Test(
        "A power loss at any time loses at most the turn being saved",
        .needs(.cuttableDisk), arguments: [0, 4])
    func powerCut(budget: Int) async throws {
        for lines in [1, 2, 7, 40] {
            let disk = try CuttableDisk(in: folder.url.appendingPathComponent("\(lines)"))
            let base = disk.url.appendingPathComponent("chats")
            let worker = try Worker(["append", base.path, "a", "w", "10000", "\(budget)", "3000"])
            // Only lines read before the power loss count: unlike a real process, the worker outlives its disk.
            let turns = saved(await worker.wait(forLines: lines))
            try disk.cutPower()
            _ = await worker.finish()
            try disk.restart()
            let messages = try await FileChatStorage(baseURL: base).load()
            try #require(turns.count >= lines && messages.count >= min(4, turns.count * 2))
            // With a budget, later unreported turns may have replaced the reported ones.
            let last = messages.compactMap { Int($0.id.split(separator: "-")[1]) }.max() ?? -1
            try #require(last >= turns.max() ?? 0)
            try check(["w": budget == 0 ? turns : []], in: messages)
        }
    }

    @Test("A canceled save either saves the whole batch or throws and saves nothing")
    func canceledMidSave() async throws {
        for number in 0..<60 {
            let messages = turn(number)
            let task = Task { try await store.save(messages) }
            if number % 3 > 0 { await Task.yield() }
            task.cancel()
            let result = await task.result
            let stored = try await store.load(budget: 2)
            switch result {
            case .success: try #require(stored == messages)
            case .failure(let error):
                try #require(error is CancellationError)
                try #require(stored != messages)
                try await store.save(messages)
            }
        }
        #expect(try await store.load() == turns(0..<60))
    }

    @Test(
        "A retry of another process's save is acknowledged only when it is durable",
        .needs(.strace))
    func retryIsDurable() async throws {
        let strace = try #require(strace)
        // Saved as by a process that ended between its write and its sync.
        let relaxed = FileChatStorage(baseURL: folder.url, durability: .relaxed)
        try await relaxed.save(
            ["q", "a"].map { ConversationMessage(id: "a-0-\($0)", role: $0 == "q" ? .user : .assistant, text: "") })
        let options = [
            "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync", "-e", "inject=fdatasync:error=EIO:when=1",
        ]
        let lines = try await Worker(["insist", folder.url.path, "a", "1"], under: [strace] + options).finish()
        #expect(lines == ["failed 0 inputOutput", "saved 0"])
        #expect(try await store.load().map(\.id) == ["a-0-q", "a-0-a"])
    }

    @Test(
        "A full disk throws its own error, reads still work, and saves continue when there is space",
        .needs(.tinyDisk))
    func fullDisk() async throws {
        let disk = try TinyDisk(at: folder.url.appendingPathComponent("disk"), kilobytes: 256)
        let store = FileChatStorage(baseURL: disk.url)
        var found: [ConversationMessage] = []
        var failure: RecollectError?
        for number in 0..<100 where failure == nil {
            let next = turn(number, text: String(repeating: "x", count: 5000))
            do {
                try await store.save(next)
                found += next
            } catch let error as RecollectError {
                failure = error
            }
        }
        #expect(failure?.code == .diskFull)
        #expect(try await store.load() == found && found.count > 20)
        #expect(try await FileChatStorage(baseURL: disk.url).load() == found)
        try disk.resize(kilobytes: 1024)
        try await store.save(turn(1000))
        #expect(try await FileChatStorage(baseURL: disk.url).load() == found + turn(1000))
        try disk.makeReadOnly()
        let error = await #expect(throws: RecollectError.self) { try await store.save(turn(1001)) }
        #expect(error?.code == .readOnly)
        #expect(try await store.load().count == found.count + 2)
    }

    @Test(
        "A save succeeds on a full disk without room for its trim, which follows with the next save",
        .needs(.tinyDisk))
    func fullDiskForTheTrim() async throws {
        let disk = try TinyDisk(at: folder.url.appendingPathComponent("disk"), kilobytes: 256)
        let store = FileChatStorage(baseURL: disk.url)
        let old = (0..<30).flatMap { turn($0, text: String(repeating: "x", count: 1500)) }
        try await store.save(old)
        disk.fill()
        // Room for a message, but not for the window in a new file.
        let filler = disk.url.appendingPathComponent("filler")
        let handle = try FileHandle(forWritingTo: filler)
        try handle.truncate(atOffset: handle.seekToEnd() - 4096)
        try handle.close()
        for number in 100...102 {
            try await store.save(turn(number), budget: 10)
            #expect(try await store.load().suffix(2) == turn(number))
            #expect(try await FileChatStorage(baseURL: disk.url).load() == old + turns(100...number))
        }
        try FileManager.default.removeItem(at: filler)
        try await store.save(turn(103), budget: 10)
        let found = Array((old + turns(100...103)).suffix(10))
        #expect(try await store.load() == found)
        #expect(try await FileChatStorage(baseURL: disk.url).load() == found)
        let size = try FileManager.default.attributesOfItem(atPath: disk.url.path + "/u/s/a.json")[.size] as? Int
        #expect(try #require(size) < 20_000)
    }

    @Test(
        "Each failing check of a folder throws an error with a code",
        .needs(.strace))
    func failingLook() async throws {
        let strace = try #require(strace)
        try await store.save([ConversationMessage(id: "1", role: .system, text: "")])
        let user = folder.url.appendingPathComponent("u").path
        var failures = 0
        for count in 1...20 {
            let options = ["-f", "-qq", "-o", "/dev/null", "-P", user, "-e", "trace=newfstatat"]
            let fault = ["-e", "inject=newfstatat:error=EIO:when=\(count)"]
            let worker = try Worker(["insist", folder.url.path, "a", "1"], under: [strace] + options + fault)
            let lines = await worker.finish()
            #expect(worker.endedWell)
            if lines == ["saved 0"] { break }
            failures += 1
            #expect(lines == ["failed 0 inputOutput", "saved 0"], "call \(count)")
        }
        #expect((1..<20).contains(failures))
    }

    @Test(
        "A damaged file on a read-only disk is read as far as possible",
        .needs(.tinyDisk))
    func readOnlyDamage() async throws {
        let disk = try TinyDisk(at: folder.url.appendingPathComponent("disk"), kilobytes: 256)
        try await FileChatStorage(baseURL: disk.url).save(turns(1...2))
        let file = disk.url.appendingPathComponent("u/s/a.json")
        let torn = try Data(contentsOf: file).dropLast(3)
        try Data(torn).write(to: file)
        try disk.makeReadOnly()
        #expect(try await FileChatStorage(baseURL: disk.url).load() == turns(1...2).dropLast())
        #expect(try Data(contentsOf: file) == Data(torn))
    }

    @Test(
        "A damaged file on a full disk is read as far as possible, and repaired when there is space",
        .needs(.tinyDisk))
    func damageOnFullDisk() async throws {
        let disk = try TinyDisk(at: folder.url.appendingPathComponent("disk"), kilobytes: 256)
        let store = FileChatStorage(baseURL: disk.url)
        try await store.save(turns(1...2))
        let file = disk.url.appendingPathComponent("u/s/a.json")
        let torn = try Data(contentsOf: file).dropLast(3)
        try Data(torn).write(to: file)
        disk.fill()
        for store in [store, FileChatStorage(baseURL: disk.url)] {
            for _ in 0..<2 { #expect(try await store.load() == turns(1...2).dropLast()) }
            #expect(try await store.fetchAllChats(userId: "u", sessionId: "s").count == 3)
            #expect(await #expect(throws: RecollectError.self) { try await store.save(turn(3)) }?.code == .diskFull)
            #expect(try Data(contentsOf: file) == Data(torn))
        }
        try FileManager.default.removeItem(at: disk.url.appendingPathComponent("filler"))
        #expect(try await store.load() == turns(1...2).dropLast())
        try await store.save([turn(2)[1]] + turn(3))
        #expect(try await FileChatStorage(baseURL: disk.url).load() == turns(1...3))
        let names = try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)
        #expect(names.count == 2)
        let aside = try #require(names.first { $0.hasPrefix("a.json.damaged-") })
        #expect(try Data(contentsOf: file.deletingLastPathComponent().appendingPathComponent(aside)) == Data(torn))
    }

    #if os(Linux)
        @Test(
            "A save reads and writes the same amount at turns 10 and 1,000, with and without a budget",
            arguments: [0, 20])
        func appends(budget: Int) async throws {
            let lines = try await Worker(["measure", folder.url.path, "1000", "\(budget)"]).finish()
            let turns = lines.compactMap { line -> (read: Int, written: Int)? in
                let fields = line.split(separator: " ").compactMap { Int($0) }
                return fields.count == 2 ? (fields[0], fields[1]) : nil
            }
            try #require(turns.count == 1000)
            // A turn is about 350 bytes. With a budget, spaces later overwrite it, and sometimes the window moves.
            let moves = turns.dropFirst(10).filter { $0.written > 2_000 }
            #expect(moves.count < (budget == 0 ? 1 : 40))
            #expect(moves.allSatisfy { $0.written < 20 * 350 && $0.read < 20 * 350 })
            #expect(turns.dropFirst(10).filter { $0.read > 1_500 }.count == moves.count)
        }
    #endif

    @Test("An append changes only the bracket at the old end, and a trim keeps the remaining bytes in place")
    func bytesStay() async throws {
        try await store.save(turns(0..<20))
        let before = Array(try Data(contentsOf: folder.file()))
        try await store.save(turn(20))
        let after = Array(try Data(contentsOf: folder.file()))
        #expect(after[..<(before.count - 1)] == before.dropLast())
        #expect(after[before.count - 1] == UInt8(ascii: ","))
        try await store.save([], budget: 30)
        let trimmed = Array(try Data(contentsOf: folder.file()))
        let start = try #require(trimmed.firstIndex(of: UInt8(ascii: "{")))
        #expect(trimmed.count == after.count && trimmed[start...] == after[start...])
        #expect(trimmed[1..<start].allSatisfy { $0 == 0x20 || $0 == 0x0A })
    }
}
