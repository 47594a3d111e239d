import Foundation
import RecollectCore
import RecollectTestSupport
import RecollectTesting
import RecollectWorkspace
import Testing

/// The behavior of sync services, as imitated by the simulator.
@Suite("Simulated cloud")
struct SimulatedCloudTests {
    // MARK: - Agreement and replay

    @Test("Every file reaches every device, in any order of events", arguments: CloudBehavior.all.map(\.name))
    func agrees(_ name: String) async {
        await Seeds.run(100) { seed in
            let cloud = try Self.wildCloud(seed, name)
            try cloud.syncCompletely()
            let devices = ["a", "b", "c"].map { cloud.device($0) }
            for device in devices {
                for path in device.evictedFiles() { try device.provider.requestDownload(of: WorkspacePath(path)) }
            }
            try cloud.syncCompletely()
            for device in devices {
                #expect(device.files() == cloud.files(), "\(device.name): \(cloud.log())")
            }
        }
    }

    @Test("The same seed gives the same bytes and log", arguments: CloudBehavior.all.map(\.name))
    func replays(_ name: String) throws {
        for seed in UInt64(0)..<20 {
            let (first, second) = (try Self.wildCloud(seed, name), try Self.wildCloud(seed, name))
            try first.syncCompletely()
            try second.syncCompletely()
            #expect(first.log(last: .max) == second.log(last: .max))
            #expect(first.files() == second.files())
        }
        let logs = Set(try (UInt64(0)..<20).map { try Self.wildCloud($0, name).log(last: .max) })
        #expect(logs.count == 20)
    }

    @Test("Nothing is synced without a request")
    func nothingByItself() {
        let cloud = SimulatedCloud(seed: 1)
        let (a, b) = (cloud.device("a"), cloud.device("b"))
        a.edit("context.md", "one")
        #expect(b.files().isEmpty)
        #expect(cloud.files().isEmpty)
    }

    @Test("Different seeds give different orders of arrival")
    func reorders() throws {
        var arrivals: Set<[String]> = []
        for seed in UInt64(0)..<50 {
            let cloud = SimulatedCloud(seed: seed, behavior: CloudBehavior(conflicts: .dropbox))
            let (a, b) = (cloud.device("a"), cloud.device("b"))
            for name in ["1", "2", "3"] { a.edit(name, name) }
            var order: [String] = []
            while order.count < 3, cloud.step() {
                order += b.files().keys.filter { !order.contains($0) }.sorted()
            }
            arrivals.insert(order)
        }
        #expect(arrivals.count == 6)
    }

    @Test("A sync without agreement throws an error with the seed and the log")
    func saysWhatHappened() throws {
        let cloud = SimulatedCloud(seed: 77)
        _ = cloud.device("b")
        cloud.device("a").edit("context.md", "one")
        let error = #expect(throws: UnfinishedSyncError.self) { try cloud.syncCompletely(limit: 1) }
        #expect(error?.seed == 77)
        #expect("\(try #require(error))".contains("a writes 3 bytes to context.md"))
    }

    // MARK: - Conflicts

    /// Returns the result of two concurrent edits of a file: its text, and the other files with their texts.
    private func copies(
        _ behavior: CloudBehavior, seed: UInt64 = 1, isNew: Bool = false
    ) throws -> (cloud: SimulatedCloud, main: String, others: [String: String]) {
        let cloud = SimulatedCloud(seed: seed, behavior: behavior)
        let (a, b) = (cloud.device("anna"), cloud.device("bert"))
        if !isNew {
            a.edit("Journal/day.md", "base")
            try cloud.syncCompletely()
        }
        a.edit("Journal/day.md", "from anna")
        b.edit("Journal/day.md", "from bert")
        try cloud.syncCompletely()
        let files = cloud.files().mapValues { String(decoding: $0, as: UTF8.self) }
        let main = try #require(files["Journal/day.md"])
        return (cloud, main, files.filter { $0.key != "Journal/day.md" })
    }

    @Test("The losing content becomes a conflict copy with a name in the service's format")
    func copyNames() async {
        await Seeds.run(10) { seed in
            let cases: [(CloudBehavior.Conflicts, Regex<Substring>)] = [
                (.syncthing, #/Journal/day\.sync-conflict-20260115-12\d{4}-[A-Z2-7]{7}\.md/#),
                (.dropbox, #/Journal/day \((?:anna|bert)'s conflicted copy 2026-01-15\)\.md/#),
                (.oneDrive, #/Journal/day-(?:ANNA|BERT)\.md/#),
                (.iCloudForWindows, #/Journal/day \(1\)\.md/#),
            ]
            for (conflicts, pattern) in cases {
                let (cloud, main, others) = try copies(CloudBehavior(conflicts: conflicts), seed: seed)
                let copy = try #require(others.first)
                #expect(others.count == 1)
                #expect(try pattern.wholeMatch(in: copy.key) != nil, "\(copy.key)\n\(cloud.log())")
                #expect(Set([main, copy.value]) == ["from anna", "from bert"])
            }
        }
    }

    @Test("For Syncthing, the later edit wins and names the conflict copy")
    func syncthingNamesTheWinner() async {
        await Seeds.run(20) { seed in
            let (_, main, others) = try copies(.syncthing, seed: seed)
            #expect(main == "from bert")
            let name = try #require(others.first).key
            let other = try #require(try copies(.syncthing, seed: seed &+ 100).others.first).key
            #expect(name.suffix(10) == other.suffix(10))
        }
    }

    @Test("A device with a clock ahead wins a conflict")
    func clockSkew() async {
        await Seeds.run(20) { seed in
            let cloud = SimulatedCloud(seed: seed, behavior: .syncthing)
            let (a, b) = (cloud.device("a"), cloud.device("b"))
            a.clockSkew = 365 * 86_400
            a.edit("x.md", "from a")
            b.edit("x.md", "from b, later")
            try cloud.syncCompletely()
            #expect(cloud.files()["x.md"] == Array("from a".utf8))
            #expect(
                try #require(b.provider.item(at: WorkspacePath("x.md"))?.modified)
                    > Date(timeIntervalSince1970: 1_790_000_000))
        }
    }

    @Test("For iCloud, conflicting edits become versions, and conflicting new files become two files")
    func iCloudConflicts() throws {
        let (cloud, main, others) = try copies(.iCloud)
        #expect(others.isEmpty)
        let path = try WorkspacePath("Journal/day.md")
        let device = cloud.device("anna")
        try device.provider.requestDownload(of: path)
        try cloud.syncCompletely()
        let versions = try device.provider.conflictVersions(of: path)
        #expect(Set(versions.map { String(decoding: $0.bytes, as: UTF8.self) } + [main]) == ["from anna", "from bert"])
        #expect(try device.provider.item(at: path)?.state == .conflicted)

        let made = try copies(.iCloud, isNew: true)
        #expect(made.others.keys.sorted() == ["Journal/day 2.md"])
    }

    @Test("Resolving versions on one device removes only these versions on all devices")
    func resolves() throws {
        let (cloud, _, _) = try copies(CloudBehavior(conflicts: .fileVersions))
        let path = try WorkspacePath("Journal/day.md")
        let (a, b) = (cloud.device("anna").provider, cloud.device("bert").provider)
        let versions = try a.conflictVersions(of: path)
        #expect(versions.count == 1)
        try a.resolve([ConflictVersion(id: "99", bytes: [])], of: path)
        #expect(try a.conflictVersions(of: path) == versions)
        try a.resolve(versions, of: path)
        #expect(try a.conflictVersions(of: path) == [])
        #expect(try b.conflictVersions(of: path) == versions)
        try cloud.syncCompletely()
        #expect(try b.conflictVersions(of: path) == [])
        #expect(try b.item(at: path)?.state == .local)
    }

    @Test("Identical content is no conflict", arguments: CloudBehavior.all.map(\.name))
    func identicalBytes(_ name: String) async {
        await Seeds.run(20) { seed in
            let cloud = SimulatedCloud(seed: seed, behavior: try Self.service(name))
            for device in ["a", "b", "c"] { cloud.device(device).edit("x.md", "the same") }
            try cloud.syncCompletely()
            #expect(cloud.files() == ["x.md": Array("the same".utf8)])
            #expect(try cloud.device("a").provider.conflictVersions(of: WorkspacePath("x.md")) == [])
        }
    }

    @Test("An edit wins over a deletion, in any order", arguments: CloudBehavior.all.map(\.name))
    func editBeatsDeletion(_ name: String) async {
        await Seeds.run(20) { seed in
            let cloud = SimulatedCloud(seed: seed, behavior: try Self.service(name))
            let (a, b) = (cloud.device("a"), cloud.device("b"))
            a.edit("x.md", "base")
            try cloud.syncCompletely()
            a.delete("x.md")
            b.edit("x.md", "edited")
            try cloud.syncCompletely()
            #expect(cloud.files() == ["x.md": Array("edited".utf8)], "\(cloud.log())")
        }
    }

    @Test("A deletion reaches all devices")
    func deletions() throws {
        let cloud = SimulatedCloud(seed: 3)
        let (a, b) = (cloud.device("a"), cloud.device("b"))
        a.edit("x.md", "x")
        try cloud.syncCompletely()
        a.delete("x.md")
        try cloud.syncCompletely()
        #expect(b.files().isEmpty)
        b.edit("x.md", "again")
        try cloud.syncCompletely()
        #expect(a.files() == ["x.md": Array("again".utf8)])
    }

    @Test("Only Syncthing loses one content of a conflict copy edited on both sides")
    func editedCopies() throws {
        for (behavior, count) in [(CloudBehavior.syncthing, 2), (.dropbox, 3)] {
            let (cloud, _, others) = try copies(behavior)
            let copy = try #require(others.first).key
            cloud.device("anna").edit(copy, "anna's copy")
            cloud.device("bert").edit(copy, "bert's copy")
            try cloud.syncCompletely()
            let texts = Set(cloud.files().values.map { String(decoding: $0, as: UTF8.self) })
            #expect(cloud.files().count == count)
            #expect(texts.isSuperset(of: ["anna's copy", "bert's copy"]) == (count == 3))
        }
    }

    @Test("Concurrent edits of three devices are all preserved")
    func threeDevices() async {
        await Seeds.run(30) { seed in
            for service in CloudBehavior.all {
                let cloud = SimulatedCloud(seed: seed, behavior: service.behavior)
                let devices = ["a", "b", "c"].map { cloud.device($0) }
                devices[0].edit("x.md", "base")
                try cloud.syncCompletely()
                for device in devices {
                    device.isOnline = false
                    device.edit("x.md", "from \(device.name)")
                }
                for device in devices { device.isOnline = true }
                try cloud.syncCompletely()
                for path in devices[0].evictedFiles() {
                    try devices[0].provider.requestDownload(of: WorkspacePath(path))
                }
                try cloud.syncCompletely()
                let versions = try devices[0].provider.conflictVersions(of: WorkspacePath("x.md")).map(\.bytes)
                let texts = (devices[0].files().values.map { $0 } + versions).map {
                    String(decoding: $0, as: UTF8.self)
                }
                #expect(texts.sorted() == ["from a", "from b", "from c"], "\(service.name)\n\(cloud.log())")
            }
        }
    }

    // MARK: - Arrivals

    @Test("A file arriving in place is visible in part, and the part is never uploaded")
    func arrivesInPlace() throws {
        let text = String(repeating: "line\n", count: 20)
        var parts = 0
        for seed in UInt64(0)..<20 {
            let cloud = SimulatedCloud(seed: seed, behavior: .inPlace)
            let (a, b) = (cloud.device("a"), cloud.device("b"))
            a.edit("x.md", text)
            while cloud.step() {
                guard let bytes = b.files()["x.md"] else { continue }
                #expect(Array(text.utf8).starts(with: bytes))
                if bytes.count < text.utf8.count { parts += 1 }
            }
            #expect(a.files() == ["x.md": Array(text.utf8)])
            #expect(b.files() == a.files())
        }
        #expect(parts == 20)
    }

    @Test("An edit during an arrival is a conflict, and both contents are preserved")
    func editsWhatArrives() async {
        await Seeds.run(20) { seed in
            let cloud = SimulatedCloud(seed: seed, behavior: .inPlace)
            let (a, b) = (cloud.device("a"), cloud.device("b"))
            a.edit("x.md", "a long text of a")
            while b.files()["x.md"] == nil { cloud.step() }
            b.edit("x.md", "b's")
            try cloud.syncCompletely()
            let versions = try a.provider.conflictVersions(of: WorkspacePath("x.md")).map(\.bytes)
            let texts = Set((versions + a.files().values).map { String(decoding: $0, as: UTF8.self) })
            #expect(texts == ["a long text of a", "b's"])
        }
    }

    @Test("A file arriving under a temporary name is not listed")
    func arrivesUnderATemporaryName() throws {
        let cloud = SimulatedCloud(seed: 4, behavior: .syncthing)
        let (a, b) = (cloud.device("a"), cloud.device("b"))
        a.edit("Journal/x.md", "a long text")
        while cloud.step() {
            let whole = b.files()["Journal/x.md"].map { $0 == Array("a long text".utf8) }
            #expect(whole ?? true)
            #expect(try b.provider.items(in: .root).allSatisfy { $0.path.name == "Journal" })
        }
        #expect(b.files().count == 1)
    }

    @Test("A log may arrive cut in the middle of a line, and the rest arrives later")
    func cutLogs() throws {
        var cuts = 0
        for seed in UInt64(0)..<100 {
            let cloud = SimulatedCloud(seed: seed, behavior: .syncthing)
            let (a, b) = (cloud.device("a"), cloud.device("b"))
            var seen: Set<[UInt8]> = []
            for line in ["first line\n", "second line\n", "third line\n"] {
                a.appendSlowly("log.md", line)
                while cloud.step() { seen.insert(b.files()["log.md"] ?? []) }
            }
            cuts += seen.filter { !$0.isEmpty && $0.last != UInt8(ascii: "\n") }.count
            #expect(b.files()["log.md"] == Array("first line\nsecond line\nthird line\n".utf8))
        }
        // Three appends for each run: about a third arrives cut, as observed with Syncthing.
        #expect((50...250).contains(cuts), "\(cuts)")
    }

    @Test("A shortened log reaches the other devices")
    func rollback() throws {
        let cloud = SimulatedCloud(seed: 5)
        let (a, b) = (cloud.device("a"), cloud.device("b"))
        for text in ["1\n", "1\n2\n", "1\n2\n3\n", "1\n"] {
            a.edit("log.md", text)
            try cloud.syncCompletely()
        }
        #expect(b.files() == ["log.md": Array("1\n".utf8)])
    }

    // MARK: - Names

    @Test("A decomposed name is composed on disk")
    func composes() throws {
        let cloud = SimulatedCloud(seed: 6)
        let (a, b) = (cloud.device("a"), cloud.device("b"))
        a.edit("cafe\u{301}.md", "x")
        #expect(a.files().keys.map { Array($0.utf8) } == [Array("cafe\u{301}.md".utf8)])
        #expect(try a.provider.read(WorkspacePath("caf\u{E9}.md"), limit: 10) == [120])
        try cloud.syncCompletely()
        for device in [a, b] { #expect(device.files().keys.map { Array($0.utf8) } == [Array("caf\u{E9}.md".utf8)]) }
    }

    @Test("On a case-insensitive disk, one file of a name collision never replaces the other")
    func nameCollisions() async {
        await Seeds.run(20) { seed in
            let cloud = SimulatedCloud(seed: seed, behavior: .syncthing)
            let (a, folding) = (cloud.device("a"), cloud.device("folding"))
            folding.foldsCase = true
            a.edit("notes.md", "small")
            a.edit("Notes.md", "large")
            try cloud.syncCompletely()
            #expect(a.files().count == 2)
            #expect(folding.files().count == 1)
            let held = try #require(folding.files().first)
            a.delete(held.key)
            try cloud.syncCompletely()
            #expect(folding.files() == a.files())
            #expect(folding.files().first?.key != held.key)
        }
    }

    @Test("On a case-insensitive disk, both spellings name one file")
    func folding() throws {
        let device = SimulatedCloud(seed: 8).device("folding")
        device.foldsCase = true
        device.edit("Notes.md", "x")
        #expect(try device.provider.read(WorkspacePath("notes.MD"), limit: 10) == [120])
        #expect(throws: ContentMismatchError.self) {
            try device.provider.write([1], to: WorkspacePath("notes.md"), replacing: nil)
        }
    }

    @Test("A case-insensitive service renames the second file of a name collision")
    func caseConflicts() throws {
        let cloud = SimulatedCloud(seed: 9, behavior: .dropbox)
        cloud.device("a").edit("notes.md", "small")
        try cloud.syncCompletely()
        cloud.device("b").edit("Notes.md", "large")
        try cloud.syncCompletely()
        #expect(cloud.files().keys.sorted() == ["Notes (Case Conflict).md", "notes.md"])
    }

    // MARK: - Evicted files

    @Test("An uploaded file can be evicted, and is downloaded on request")
    func evicts() throws {
        for (behavior, size) in [(CloudBehavior.iCloud, 4), (.oldICloud, 0)] {
            let cloud = SimulatedCloud(seed: 10, behavior: behavior)
            let a = cloud.device("a")
            let path = try WorkspacePath("x.md")
            a.edit("x.md", "text")
            #expect(throws: RecollectError.self) { try a.evict("x.md") }
            try cloud.syncCompletely()
            try a.evict("x.md")
            #expect(a.files().isEmpty)
            #expect(a.evictedFiles() == ["x.md"])
            #expect(try a.provider.item(at: path)?.size == size)
            try cloud.syncCompletely()
            #expect(try a.provider.item(at: path)?.state == .notLocal)
            try a.provider.requestDownload(of: path)
            #expect(try a.provider.item(at: path)?.state == .downloading)
            try cloud.syncCompletely()
            #expect(try a.provider.read(path, limit: 10) == Array("text".utf8))
        }
    }

    @Test("Spontaneous evictions never affect a file not yet uploaded")
    func evictsByItself() throws {
        var evicted = 0
        for seed in UInt64(0)..<50 {
            let cloud = SimulatedCloud(seed: seed, behavior: CloudBehavior(conflicts: .iCloud, evicts: true))
            let a = cloud.device("a")
            for number in 0..<5 {
                a.edit("\(number).md", "\(number)")
                for _ in 0..<3 { cloud.step() }
                #expect(a.evictedFiles().isSubset(of: Set(cloud.files().keys)))
            }
            evicted += a.evictedFiles().count
        }
        #expect(evicted > 20)
    }

    @Test("A download stalls, or finishes at once, according to the behavior")
    func stalls() throws {
        let cloud = SimulatedCloud(seed: 11, behavior: .iCloud)
        cloud.behavior.downloads = .stalled
        cloud.device("a").edit("x.md", "text")
        let b = cloud.device("b")
        let path = try WorkspacePath("x.md")
        try cloud.syncCompletely()
        try b.provider.requestDownload(of: path)
        try cloud.syncCompletely()
        #expect(try b.provider.item(at: path)?.state == .downloading)
        cloud.behavior.downloads = .later
        try cloud.syncCompletely()
        #expect(try b.provider.item(at: path)?.state == .local)
        cloud.behavior.downloads = .atOnce
        try b.evict("x.md")
        try b.provider.requestDownload(of: path)
        #expect(try b.provider.item(at: path)?.state == .local)
    }

    // MARK: - Quota, disk, folder

    @Test("Local writes succeed over the quota, and are uploaded once there is room")
    func quota() throws {
        let cloud = SimulatedCloud(seed: 12)
        let (a, b) = (cloud.device("a"), cloud.device("b"))
        cloud.quota = 10
        try a.provider.write(Array("12345678".utf8), to: WorkspacePath("1.md"), replacing: nil)
        try cloud.syncCompletely()
        #expect(!cloud.isOverQuota)
        try a.provider.write(Array("12345678".utf8), to: WorkspacePath("2.md"), replacing: nil)
        try cloud.syncCompletely()
        #expect(cloud.isOverQuota)
        #expect(a.files().count == 2)
        #expect(b.files().count == 1)
        a.delete("1.md")
        try cloud.syncCompletely()
        #expect(!cloud.isOverQuota)
        #expect(b.files().keys.sorted() == ["2.md"])
    }

    @Test("A write to a full disk throws and leaves the file unchanged")
    func fullDisk() throws {
        let cloud = SimulatedCloud(seed: 13)
        let (a, b) = (cloud.device("a"), cloud.device("b"))
        a.capacity = 10
        let path = try WorkspacePath("x.md")
        try a.provider.write(Array("12345".utf8), to: path, replacing: nil)
        let error = #expect(throws: RecollectError.self) {
            try a.provider.write(Array("12345678901".utf8), to: path, replacing: ContentHash(of: Array("12345".utf8)))
        }
        #expect(error?.code == .diskFull)
        b.edit("y.md", "1234567890")
        try cloud.syncCompletely()
        #expect(a.files() == ["x.md": Array("12345".utf8)])
        a.capacity = nil
        try cloud.syncCompletely()
        #expect(a.files().count == 2)
    }

    @Test("A fault removes all files without reaching the service, and can be undone")
    func vanishes() throws {
        let cloud = SimulatedCloud(seed: 14)
        let (a, b) = (cloud.device("a"), cloud.device("b"))
        for number in 0..<5 { a.edit("\(number).md", "\(number)") }
        try cloud.syncCompletely()
        b.removeAllFiles()
        #expect(try b.provider.items(in: .root).allSatisfy(\.isFolder))
        try cloud.syncCompletely()
        #expect(a.files().count == 5)
        b.restoreFiles()
        try cloud.syncCompletely()
        #expect(b.files() == a.files())
        b.deleteEverything()
        try cloud.syncCompletely()
        #expect(a.files().isEmpty)
    }

    @Test("A folder is duplicated by copying or by splitting its files")
    func duplicatesFolders() async {
        await Seeds.run(10) { seed in
            for kind in [CloudBehavior.FolderDuplication.copies, .splits] {
                let cloud = SimulatedCloud(
                    seed: seed, behavior: CloudBehavior(conflicts: .iCloud, duplicatesFolders: kind))
                let (a, b) = (cloud.device("a"), cloud.device("b"))
                for number in 0..<6 { a.edit("Journal/user/\(number).md", "\(number)") }
                try cloud.syncCompletely()
                cloud.duplicate("Journal")
                try cloud.syncCompletely()
                let names = b.files().keys.map { $0.replacing("Journal 2/", with: "Journal/") }
                #expect(Set(names).count == 6)
                #expect(names.count == (kind == .copies ? 12 : 6))
                #expect(a.files() == b.files())
                #expect(b.files().keys.contains { $0.hasPrefix("Journal 2/user/") })
            }
        }
    }

    // MARK: - Helpers

    static func service(_ name: String) throws -> CloudBehavior {
        try #require(CloudBehavior.all.first { $0.name == name }).behavior
    }

    /// Returns a cloud after random edits, deletions and disconnections of three devices.
    static func wildCloud(_ seed: UInt64, _ name: String) throws -> SimulatedCloud {
        let cloud = SimulatedCloud(seed: seed, behavior: try service(name))
        var generator = SeededGenerator(seed: seed &+ 1)
        let devices = ["a", "b", "c"].map { cloud.device($0) }
        for round in 0..<40 {
            let device = devices[Int.random(in: 0..<3, using: &generator)]
            let path = ["context.md", "Journal/day.md", "Journal/e\u{301}.md"][Int.random(in: 0..<3, using: &generator)]
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5: device.edit(path, "\(round) of \(device.name)")
            case 5: device.appendSlowly(path, "line \(round)\n")
            case 6: device.delete(path)
            case 7: device.isOnline.toggle()
            default: for _ in 0..<5 { cloud.step() }
            }
        }
        for device in devices { device.isOnline = true }
        return cloud
    }
}
