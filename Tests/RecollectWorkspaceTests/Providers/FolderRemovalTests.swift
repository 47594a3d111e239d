#if os(Linux)
    import Foundation
    import RecollectCore
    import RecollectFileSystem
    import Testing

    @testable import RecollectWorkspace

    /// An empty folder is removed while somebody else is about to write into it. The folder's lock holds the second one fast; that it
    /// has come so far is seen by the folders that this process has open, as Linux tells them.
    @Suite("A folder that is removed while somebody writes into it", .endsHanging)
    struct FolderRemovalTests {
        private let folder: TestFolder
        private let provider: FolderProvider
        private var inside: String { folder.root.path + "/a/b" }

        init() throws {
            folder = try TestFolder()
            provider = try FolderProvider(root: folder.root)
            try FileManager.default.createDirectory(atPath: inside, withIntermediateDirectories: true)
        }

        @Test("the writer finds it gone when its turn comes, and makes it again")
        func writer() throws {
            let provider = provider
            try whileWaiting({ try provider.write("text", to: "a/b/c.md", replacing: nil) }) {
                try FileManager.default.removeItem(atPath: folder.root.path + "/a")
            }
            #expect(try provider.text("a/b/c.md") == "text")
        }

        @Test("one who replaces or removes a file in it finds that gone")
        func replacing() throws {
            let (provider, name, old) = (provider, try WorkspacePath("a/b/c.md"), ContentHash(of: "old".utf8))
            let changes: [@Sendable () throws -> Void] = [
                { try provider.write(Array("new".utf8), to: name, replacing: old) },
                { try provider.remove(name, holding: old) },
            ]
            for change in changes {
                try folder.put("old", at: "a/b/c.md")
                let error = #expect(throws: ContentMismatch.self) {
                    try whileWaiting(change) {
                        try FileManager.default.moveItem(atPath: inside, toPath: folder.root.path + "/moved")
                    }
                }
                #expect(error?.current == nil)
                #expect(try folder.names(in: "moved") == ["c.md"] && folder.text(at: "moved/c.md") == "old")
                try FileManager.default.removeItem(atPath: folder.root.path + "/moved")
            }
        }

        @Test("the folder stays where its writer was first")
        func removal() throws {
            let provider = provider
            let isRemoved = try whileWaiting({ try provider.removeFolder(WorkspacePath("a/b")) }) {
                try folder.put("text", at: "a/b/c.md")
            }
            #expect(try !isRemoved && folder.text(at: "a/b/c.md") == "text")
        }

        /// Does something in another thread that needs the folder's turn, and something here while it waits for it.
        private func whileWaiting<Result: Sendable>(
            _ work: @escaping @Sendable () throws -> Result, _ meanwhile: () throws -> Void
        ) throws -> Result {
            let outcome = Locked<Swift.Result<Result, any Error>?>(nil)
            var lock: OpenFolder? = try OpenFolder(path: inside)
            try lock?.lock(exclusively: true)
            let others = try openings()
            Thread.detachNewThread {
                let result = Swift.Result { try work() }
                outcome.withLock { $0 = result }
            }
            try withExtendedLifetime(lock) {
                // Who does not wait for its turn is done at some time.
                while try openings() == others, outcome.withLock({ $0 }) == nil { sched_yield() }
                try meanwhile()
            }
            lock = nil
            while true {
                if let result = outcome.withLock({ $0 }) { return try result.get() }
                sched_yield()
            }
        }

        /// How often this process has the folder open.
        private func openings() throws -> Int {
            var inside = stat()
            guard stat(self.inside, &inside) == 0 else { throw POSIXFailure.last }
            return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
                var status = stat()
                guard let descriptor = Int32(name), fstat(descriptor, &status) == 0 else { return false }
                return status.st_dev == inside.st_dev && status.st_ino == inside.st_ino
            }
        }
    }
#endif
