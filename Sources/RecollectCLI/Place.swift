#if CommandLine
    import ArgumentParser
    import Foundation
    import Recollect
    import RecollectTranscripts

    /// Where sessions lie: a path, and what stands there.
    struct Place: ExpressibleByArgument {
        /// What stands at a path.
        enum Kind: String, CaseIterable {
            /// A Recollect history.
            case store
            /// Chat files of Agent Squad's file storage or ours.
            case files
            /// What an import reads.
            case transcripts
        }

        /// What was said to stand there; `nil` where it is to be seen.
        var kind: Kind?
        var path: String

        init(kind: Kind?, path: String) {
            self.kind = kind
            self.path = path
        }

        init?(argument: String) {
            let named = [Kind.store, .files].first { argument.hasPrefix("\($0.rawValue):") }
            kind = named
            path = named.map { String(argument.dropFirst($0.rawValue.count + 1)) } ?? argument
            if path.isEmpty { return nil }
        }

        var url: URL { URL(fileURLWithPath: path, isDirectory: true) }

        /// The path without links, as far as it is there.
        var resolved: String { url.resolvingSymlinksInPath().standardizedFileURL.path }

        /// The place with what stands there.
        /// - Throws: `notFound` for a source that is not there.
        func detected(isSource: Bool) throws -> Place {
            guard kind == nil || isSource && kind == .files else { return self }
            if isSource {
                guard FileManager.default.fileExists(atPath: path) else {
                    throw RecollectError(.notFound, "there is nothing at \(path)")
                }
                return Place(kind: kind == nil && holdsHistory ? .store : .transcripts, path: path)
            }
            let holdsChats = try !holdsHistory && !AgentSquadKind().transcripts(at: resolved).isEmpty
            return Place(kind: holdsChats ? .files : .store, path: path)
        }

        private var holdsHistory: Bool { SQLiteHistoryStore.isHistory(at: url) }
    }
#endif
