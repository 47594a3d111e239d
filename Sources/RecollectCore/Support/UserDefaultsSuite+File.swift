#if !canImport(Darwin)
    import Foundation

    extension UserDefaultsSuite {
        /// Replaces the suite's property list by one with the changes, at once.
        ///
        /// `UserDefaults.synchronize` of Linux empties that file and writes it anew: a full disk or a kill would take all that anybody
        /// keeps in the suite, and only a `false` that is easily overlooked would tell.
        static func write(_ changes: [String: Any?], to suite: String, of defaults: UserDefaults) throws {
            let url = try file(of: suite)
            do {
                let parent = try OpenFolder.make(path: url.deletingLastPathComponent().path)
                var values = try read(url)
                for (key, value) in changes { values[key] = value }
                let data = try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)
                _ = try parent.replace(url.lastPathComponent) { try $0.write(Array(data), at: 0) }
            } catch let failure as POSIXFailure {
                throw RecollectError(failure, doing: "write", path: url.path)
            }
        }

        private static func read(_ url: URL) throws -> [String: Any] {
            guard FileManager.default.fileExists(atPath: url.path) else { return [:] }
            guard let data = FileManager.default.contents(atPath: url.path) else {
                throw RecollectError(.permissionDenied, "cannot read \(url.path)")
            }
            // An empty file is what a crash has left of one that was written in place.
            if data.isEmpty { return [:] }
            // What is no list makes the error below.
            let list = try? PropertyListSerialization.propertyList(from: data, options: [], format: nil)
            guard let values = list as? [String: Any] else {
                throw RecollectError(
                    .damaged, "\(url.path) is no property list of user defaults; move it away, and it is made anew")
            }
            return values
        }

        /// The file in which Foundation keeps a suite.
        static func file(of suite: String) throws -> URL {
            let name = (suite.isEmpty ? ProcessInfo.processInfo.processName : suite) + ".plist"
            guard !name.contains("/"), !name.contains("\0"), name.utf8.count <= 255 else {
                throw RecollectError(.invalidArgument, "no file can have the name of the suite \"\(suite)\"")
            }
            let environment = ProcessInfo.processInfo.environment
            func folder(_ variable: String) -> URL? {
                environment[variable].flatMap { $0.hasPrefix("/") ? URL(fileURLWithPath: $0) : nil }
            }
            // As Foundation's preferences do, where `FileManager` asks the system whose home it is: without `HOME` it is the root folder.
            let home = environment["HOME"] ?? ""
            let configured = folder("XDG_CONFIG_HOME") ?? URL(fileURLWithPath: home + "/.config")
            return configured.appendingPathComponent(name).resolvingSymlinksInPath()
        }
    }
#endif
