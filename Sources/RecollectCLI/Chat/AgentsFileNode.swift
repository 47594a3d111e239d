#if CommandLine
    import Foundation
    import Recollect
    import Yams

    /// A value in an agents file, with its line for error messages.
    struct AgentsFileNode {
        private let node: Node
        private let path: String

        /// Parses a file's text, and returns its top value. JSON is parsed as YAML.
        /// - Throws: `unreadable` for an empty text or invalid YAML.
        static func root(of text: String, path: String) throws -> AgentsFileNode {
            do {
                guard let node = try Yams.compose(yaml: text) else {
                    throw RecollectError(.unreadable, "\(path.visible) is empty: it must list agents")
                }
                return AgentsFileNode(node: node, path: path)
            } catch let error as YamlError {
                throw RecollectError(.unreadable, "\(path.visible) is not valid YAML or JSON: \(error)", cause: error)
            }
        }

        /// Returns the value as a table.
        /// - Throws: `unreadable` for any other value, and for a key not in `keys`.
        func table(allowing keys: [String]) throws -> [String: AgentsFileNode] {
            guard let mapping = node.mapping else { throw error("must be a mapping with the keys \(Self.words(keys))") }
            var table: [String: AgentsFileNode] = [:]
            for (key, value) in mapping {
                let name = key.string ?? ""
                guard keys.contains(name) else {
                    throw AgentsFileNode(node: key, path: path)
                        .error("unknown key '\(name.visible)'; valid keys: \(Self.words(keys))")
                }
                table[name] = AgentsFileNode(node: value, path: path)
            }
            return table
        }

        func list() throws -> [AgentsFileNode] {
            guard let sequence = node.sequence else { throw error("must be a list") }
            return sequence.map { AgentsFileNode(node: $0, path: path) }
        }

        func text() throws -> String {
            guard let text = node.scalar?.string, !text.isEmpty else { throw error("must be text") }
            return text
        }

        func url() throws -> URL {
            guard let url = AgentsFile.serverURL(try text()) else {
                throw error("must be a server URL, such as https://host/v1")
            }
            return url
        }

        func count() throws -> Int {
            guard let count = Int(try text()), count > 0 else { throw error("must be a whole number above 0") }
            return count
        }

        func choice<Choice: RawRepresentable<String> & CaseIterable>(of type: Choice.Type) throws -> Choice {
            let text = try text()
            guard let choice = Choice(rawValue: text) else {
                throw error("must be one of \(Self.words(Choice.allCases.map(\.rawValue))), not '\(text.visible)'")
            }
            return choice
        }

        /// Returns an `unreadable` error with the file and line of this value.
        func error(_ problem: String) -> RecollectError {
            let line = node.mark.map { ":\($0.line)" } ?? ""
            return RecollectError(.unreadable, "\(path.visible)\(line): \(problem)")
        }

        private static func words(_ names: [String]) -> String {
            names.joined(separator: ", ")
        }
    }
#endif
