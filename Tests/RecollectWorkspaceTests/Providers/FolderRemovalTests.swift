#if os(Linux)
    import Foundation
    import RecollectCore
    import RecollectFileSystem
    import Testing

    @testable import RecollectWorkspace

    /// An empty folder is removed while another writer is about to write into it. The folder's lock blocks the second
    /// one; the number of descriptors that this process has open for the folder, from Linux's `/proc/self/fd`, shows
    /// that it is waiting.
    @Suite("Removal of a folder during a write", .endsHanging)
    struct FolderRemovalTests {
        private let folder: TestFolder
        private let provider: FolderProvider
        private var inside: String { folder.root.path + "/a/b" }

        init() throws {
            folder = try TestFolder()
            provider = try FolderProvider(root: folder.root)
            try FileManager.default.createDirectory(atPath: inside, withIntermediateDirectories: true)
        }

        @Test("A writer that waits for a folder creates it again if it was removed")
        func writer() throws {
            let provider = provider
            try whileWaiting({ try provider.write("text", to: "a/b/c.md", replacing: nil) }) {
                try FileManager.default.removeItem(atPath: folder.root.path + "/a")
            }
            #expect(try provider.text("a/b/c.md") == "text")
        }

        @Test("Replacing or removing a file in a moved folder throws and leaves the file unchanged")
        func replacing() throws {
            let (provider, name, old) = (provider, try WorkspacePath("a/b/c.md"), ContentHash(of: "old".utf8))
            let changes: [@Sendable () throws -> Void] = [
                { try provider.write(Array("new".utf8), to: name, replacing: old) },
                { try provider.remove(name, holding: old) },
            ]
            for change in changes {
                try folder.put("old", at: "a/b/c.md")
                let error = #expect(throws: ContentMismatchError.self) {
                    try whileWaiting(change) {
                        try FileManager.default.moveItem(atPath: inside, toPath: folder.root.path + "/moved")
                    }
                }
                #expect(error?.current == nil)
                #expect(try folder.names(in: "moved") == ["c.md"] && folder.text(at: "moved/c.md") == "old")
                try FileManager.default.removeItem(atPath: folder.root.path + "/moved")
            }
        }

        @Test("A folder that received a file before its removal stays")
        func removal() throws {
            let provider = provider
            let isRemoved = try whileWaiting({ try provider.removeFolder(WorkspacePath("a/b")) }) {
                try folder.put("text", at: "a/b/c.md")
            }
            #expect(try !isRemoved && folder.text(at: "a/b/c.md") == "text")
        }

        /// Performs `work`, which needs the folder's lock, in another thread, and `meanwhile` here while `work` waits.
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
                // Work that does not wait for the lock ends by itself.
                while try openings() == others, outcome.withLock({ $0 }) == nil { sched_yield() }
                try meanwhile()
            }
            lock = nil
            while true {
                if let result = outcome.withLock({ $0 }) { return try result.get() }
                sched_yield()
            }
        }

        /// The number of descriptors that this process has open for the folder.
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
