#if os(Linux)
    import Foundation
    import RecollectTestSupport
    import Testing

    @testable import RecollectCore
    @testable import RecollectSQLite

    /// Sectors with permanent read errors.
    @Suite("Bad sectors", .needs(.badSectors))
    struct BadSectorTests {
        private let folder: TemporaryFolder
        private let store: SalvageStore
        private let library: URL

        init() async throws {
            folder = try TemporaryFolder()
            library = try BadSectors.makeLibrary(in: folder.url)
            store = try await SalvageStore(in: folder)
        }

        /// Opens and reads the history in a process for which 512 bytes of a file are unreadable.
        private func read(badAt offset: Int, of name: String) async throws -> [String] {
            let id = try FileManager.default.attributesOfItem(atPath: folder.file(name).path)[.systemFileNumber]
            let worker = try Worker(
                ["read", folder.url.path, "ann", "first"],
                under: [
                    "/usr/bin/env", "LD_PRELOAD=\(library.path)",
                    "BAD_FILE=\(try #require(id as? UInt64))", "BAD_OFFSET=\(offset)",
                ])
            return await worker.finish()
        }

        @Test(
            "An unreadable page costs only its messages, and the loss is reported",
            arguments: ["first bytes", "first page", "interior", "leaf", "session", "sqlite_schema", "overflow"])
        func page(kind: String) async throws {
            let page = try #require(
                try store.pages().first { page in
                    switch kind {
                    case "first bytes", "first page": page.number == 1
                    case "interior": page.table == "message" && page.kind == "internal"
                    case "leaf", "overflow": page.table == "message" && page.kind == kind
                    default: page.table == kind && page.number > 1
                    }
                })
            let position = kind == "first page" ? 2048 : 0
            // The first process may return messages that it read before the damaged page.
            for _ in 0..<2 {
                _ = try await read(badAt: (page.number - 1) * 4096 + position, of: "history.sqlite")
                if try !folder.names.filter({ $0.hasPrefix("history.damaged-") }).isEmpty { break }
            }
            let history = folder.history()
            #expect(try await history.filesSetAside().count >= 1, "\(kind): nothing was salvaged")
            let (missing, changed) = try await store.missing(in: history, "\(kind)")
            #expect(missing <= page.messages && changed == 0)
            #expect((kind == "leaf" || kind == "overflow") == (missing > 0))
            #expect(try await history.losses().reduce(0) { $0 + ($1.lostMessages ?? 0) } == missing)
            let kinds = Set(try await history.check().problems.map(\.kind))
            #expect(kinds == (missing > 0 ? ["messagesLost"] : []))
            await history.close()
        }

        @Test("An unreadable sector at the start of the log costs no message", arguments: [0, 100])
        func log(offset: Int) async throws {
            let history = folder.history()
            let new = messages(0..<8)
            for start in stride(from: 0, to: 8, by: 2) {
                try await history.append(Array(new[start..<start + 2]), to: scope)
            }
            let copies = try ["history.sqlite", "history.sqlite-wal"].map {
                ($0, try Data(contentsOf: folder.file($0)))
            }
            await history.close()
            for (name, bytes) in copies { try bytes.write(to: folder.file(name)) }
            // A salvage removes the log.
            for _ in 0..<2 where FileManager.default.fileExists(atPath: folder.file("history.sqlite-wal").path) {
                _ = try await read(badAt: offset, of: "history.sqlite-wal")
            }
            let salvaged = folder.history()
            let saved = try await salvaged.window(of: scope, maxMessages: nil)
            #expect(try await store.missing(in: salvaged, "the log at \(offset)").missing == 0)
            #expect(saved == new)
            await salvaged.close()
        }

        @Test("A completely unreadable file is left unchanged")
        func everything() async throws {
            let before = try Data(contentsOf: store.database)
            #expect(try await read(badAt: -1, of: "history.sqlite") == ["failed inputOutput"])
            #expect(try Data(contentsOf: store.database) == before)
            #expect(try folder.names.allSatisfy { !$0.hasPrefix("history.damaged-") })
            #expect(try await store.missing(in: folder.history(), "afterwards").missing == 0)
        }
    }

    extension Need {
        fileprivate static let badSectors = Need("clang") { BadSectors.isPossible }
    }

    /// A library that fails reads of 512 bytes of a file, given by inode and offset. With offset -1, all reads fail.
    private enum BadSectors {
        fileprivate static let isPossible = (try? run("clang", "-v")) != nil

        static func makeLibrary(in folder: URL) throws -> URL {
            let (source, library) = (folder.appendingPathComponent("bad.c"), folder.appendingPathComponent("bad.so"))
            try Data(code.utf8).write(to: source)
            try run("clang", "-shared", "-fPIC", "-o", library.path, source.path, "-ldl")
            return library
        }

        private static let code = """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <errno.h>
            #include <stdlib.h>
            #include <sys/stat.h>
            #include <unistd.h>
            static int is_bad(int file, size_t count, off64_t offset) {
                const char *bad = getenv("BAD_FILE"), *place = getenv("BAD_OFFSET");
                struct stat status;
                if (!bad || !place || fstat(file, &status) || status.st_ino != strtoull(bad, 0, 10)) return 0;
                long long start = atoll(place);
                return start < 0 || (offset < start + 512 && offset + (long long)count > start);
            }
            #define READ(name, type) ssize_t name(int file, void *bytes, size_t count, type offset) { \\
                if (is_bad(file, count, offset)) { errno = EIO; return -1; } \\
                return ((ssize_t (*)(int, void *, size_t, type))dlsym(RTLD_NEXT, #name))(file, bytes, count, offset); }
            READ(pread, off_t)
            READ(pread64, off64_t)
            """
    }
#endif
