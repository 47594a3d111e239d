#if !canImport(Darwin)
    import Foundation
    import RecollectFileSystem

    extension UserDefaultsSuite {
        /// The contents of a suite's file.
        ///
        /// On Linux, `UserDefaults` returns the values read or set before in this process, misses later writes of
        /// other processes, and overwrites them. Its `synchronize` empties the file and writes it again: a full
        /// disk or a kill would lose all values of the suite, with `false` as the only sign.
        struct Contents {
            private let suite: String
            private var values: [String: Any] = [:]
            /// The bytes with these values in the file. Parsing them takes far longer than reading them.
            private var bytes: [UInt8] = []
            /// The file's folder during a step; `nil` if it does not exist.
            private var folder: OpenFolder?
            /// Whether the folder is locked. Some file systems have no locks.
            private var isLocked = false

            init(of suite: String) {
                self.suite = suite
            }

            /// Locks the file's folder until `end`, and reads the file if it has changed.
            /// - Parameter making: Whether to create a missing folder.
            mutating func begin(making: Bool) throws {
                let url = try UserDefaultsSuite.file(of: suite)
                let path = url.deletingLastPathComponent().path
                let folder = try withFileErrors("open", path) {
                    making ? try OpenFolder.make(path: path) : try nilIfMissing { try OpenFolder(path: path) }
                }
                isLocked = try withFileErrors("lock", path) { try folder?.lockAgainstWriters() ?? false }
                try withFileErrors("read", url.path) { try read(url.lastPathComponent, in: folder) }
                self.folder = folder
            }

            mutating func end() {
                folder = nil
            }

            var keys: [String] { Array(values.keys) }

            subscript(_ key: String) -> Any? { values[key] }

            /// Replaces the file atomically with a changed one.
            mutating func write(_ changes: [String: Any?]) throws {
                let url = try UserDefaultsSuite.file(of: suite)
                let path = url.deletingLastPathComponent().path
                try withFileErrors("write", url.path) {
                    var changed = values
                    for (key, value) in changes { changed[key] = value }
                    let data = try PropertyListSerialization.data(
                        fromPropertyList: changed, format: .binary, options: 0)
                    let folder = try folder ?? OpenFolder.make(path: path)
                    if isLocked { try folder.removeLeftovers(among: folder.names()) }
                    let new = Array(data)
                    _ = try folder.replace(url.lastPathComponent) { try $0.write(new, at: 0) }
                    (values, bytes) = (changed, new)
                }
            }

            private mutating func read(_ name: String, in folder: OpenFolder?) throws {
                guard let file = try nilIfMissing({ try folder?.file(name, forWriting: false) }) ?? nil else {
                    (values, bytes) = ([:], [])
                    return
                }
                var data = try file.readAll()
                if data == bytes, !data.isEmpty { return }
                // `UserDefaults` of another program may be writing the file, without a lock.
                for _ in 0..<Self.maxReadingCount where Self.values(in: data) == nil {
                    usleep(20_000)
                    data = try nilIfMissing { try folder?.file(name, forWriting: false).readAll() ?? [] } ?? []
                }
                if let list = Self.values(in: data) {
                    (values, bytes) = (list, data)
                } else if !data.isEmpty {
                    throw RecollectError(
                        .damaged, "\(file.path) is not a property list; move it away, and a new one is created"
                    )
                }
                // A crash during a write in place leaves an empty file: the values read before are saved again.
            }

            /// The number of attempts to read a file that another program may be writing, every 20 ms.
            private static let maxReadingCount = 15

            private static func values(in data: [UInt8]) -> [String: Any]? {
                // Invalid data is `nil`.
                try? PropertyListSerialization.propertyList(from: Data(data), options: [], format: nil)
                    as? [String: Any]
            }
        }

        /// Returns the file of a suite in Foundation.
        static func file(
            of suite: String, environment: [String: String] = ProcessInfo.processInfo.environment
        ) throws -> URL {
            let name = (suite.isEmpty ? ProcessInfo.processInfo.processName : suite) + ".plist"
            guard !name.contains("/"), !name.contains("\0"), name.utf8.count <= 255 else {
                throw RecollectError(.invalidArgument, "the suite name \"\(suite)\" cannot be used as a file name")
            }
            func folder(_ variable: String) -> URL? {
                environment[variable].flatMap { $0.hasPrefix("/") ? URL(fileURLWithPath: $0) : nil }
            }
            // The rule of Foundation's preferences: without `HOME`, the root folder. `FileManager` asks the system
            // for the home folder instead.
            let home = environment["HOME"] ?? ""
            let configured = folder("XDG_CONFIG_HOME") ?? URL(fileURLWithPath: home + "/.config")
            return configured.appendingPathComponent(name).resolvingSymlinksInPath()
        }
    }
#endif
