import Foundation
import RecollectCore

/// Finds the transcripts below the paths given by a user.
///
/// Imported folders are not trusted. Symbolic links in them are not followed, so no file outside them is read. The
/// depth of folders and the number of files are bounded. Files left out are reported.
struct TranscriptFiles {
    /// The maximum depth of folders, and the maximum number of files in one import.
    static let (depthLimit, countLimit) = (16, 200_000)

    private(set) var files: [TranscriptFile] = []
    private(set) var unreadable: [ImportReport.Unreadable] = []
    private let formats: [any TranscriptFormat]
    private var known: Set<String> = []
    /// The folders without JSON Lines files in the given folder.
    private var otherFolders: [String] = []
    /// Whether a file was left out for the limit. Only the first is reported.
    private var isOverLimit = false

    private init(formats: [any TranscriptFormat]) {
        self.formats = formats
    }

    /// Finds the files of all paths, each once.
    ///
    /// Files are in the order of their paths, a session's own file before those of its sub-agents. Paths of one of
    /// the `formats` give their transcripts. A folder with JSON Lines files is never read as one of these formats.
    ///
    /// - Throws: `notFound`, `permissionDenied`, `unreadable` or `invalidArgument` for a given path that cannot be
    ///   imported.
    static func find(in paths: [String], formats: [any TranscriptFormat]) throws -> TranscriptFiles {
        var found = TranscriptFiles(formats: formats)
        for path in paths {
            try found.add(named: path)
        }
        return found
    }

    /// Adds a path given by the user. The path itself may be a link.
    private mutating func add(named path: String) throws {
        guard let resolved = realpath(path, nil) else {
            if errno == ENOENT { throw RecollectError(.notFound, "there is no file or folder \(path)") }
            throw RecollectError(.last, doing: "find", path: path)
        }
        defer { free(resolved) }
        let path = String(cString: resolved)
        switch Self.kind(of: path) {
        case .folder:
            otherFolders = []
            if try add(contentsOf: path, depth: 0) > 0 {
                reportFormats(in: [path] + otherFolders)
            } else if try !add(formatAt: path) {
                let others = formats.map { ", nor \($0.name)" }.joined()
                throw RecollectError(.notFound, "\(path) contains no transcripts (.jsonl files)\(others)")
            }
        case .file(let byteCount):
            if try add(formatAt: path) { return }
            _ = try JSONLinesFormat.required(path: path)
            append(path, byteCount)
            let subagents = String(path.dropLast(".jsonl".count)) + "/subagents"
            if path.hasSuffix(".jsonl"), case .folder = Self.kind(of: subagents) {
                try add(contentsOf: subagents, depth: 1)
            }
        case .link, .missing, .other:
            throw RecollectError(.invalidArgument, "\(path) is neither a file nor a folder")
        }
    }

    /// Adds the JSON Lines files below a folder. Returns their number, with those found before.
    @discardableResult
    private mutating func add(contentsOf folder: String, depth: Int) throws -> Int {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder)
        } catch {
            guard depth > 0 else {
                throw RecollectError(.permissionDenied, "cannot list \(folder); check its permissions", cause: error)
            }
            report(folder, "the folder cannot be listed")
            return 0
        }
        var count = 0
        // The extension is not compared, so that a session's file comes before the folder of its sub-agents.
        let entries = names.map { (key: $0.hasSuffix(".jsonl") ? String($0.dropLast(6)) : $0 + "/", name: $0) }
        for (_, name) in entries.sorted(by: { $0.key < $1.key }) {
            let path = folder + "/" + name
            switch Self.kind(of: path) {
            case .folder where depth < Self.depthLimit:
                let found = try add(contentsOf: path, depth: depth + 1)
                if depth == 0, found == 0 { otherFolders.append(path) }
                count += found
            case .folder:
                report(path, "nested more than \(Self.depthLimit) folders deep")
            case .file(let byteCount) where name.hasSuffix(".jsonl"):
                append(path, byteCount)
                count += 1
            case .other where name.hasSuffix(".jsonl"):
                report(path, "is not a regular file")
            case .link where name.hasSuffix(".jsonl") || Self.isFolder(path):
                report(path, "a symbolic link inside a folder is not followed; import its target by its own path")
            case .missing where name.contains("\u{FFFD}"):
                report(path, "the name is not UTF-8; rename the file to import it")
            case .file, .link, .missing, .other:
                continue
            }
        }
        return count
    }

    /// Reports the folders of another format beside JSON Lines files.
    private mutating func reportFormats(in folders: [String]) {
        for folder in folders {
            for format in formats {
                do {
                    guard try !format.transcripts(at: folder).isEmpty else { continue }
                    report(
                        folder, "contains \(format.name), not imported together with transcripts; import it separately")
                } catch {
                    report(folder, "cannot be searched for \(format.name): \(error)")
                }
            }
        }
    }

    /// Adds the transcripts at a path with the first format to recognize it. Returns `false` if none does.
    private mutating func add(formatAt path: String) throws -> Bool {
        for format in formats {
            let found = try format.transcripts(at: path)
            found.forEach { append($0) }
            if !found.isEmpty { return true }
        }
        return false
    }

    private mutating func append(_ path: String, _ byteCount: Int64) {
        append(TranscriptFile(path: path, byteCount: byteCount) { try TranscriptReader(path: path) })
    }

    private mutating func append(_ file: TranscriptFile) {
        guard known.insert(file.path).inserted else { return }
        if files.count < Self.countLimit {
            files.append(file)
        } else if !isOverLimit {
            isOverLimit = true
            report(file.path, "more than \(Self.countLimit) files: import the folders one by one")
        }
    }

    private mutating func report(_ path: String, _ reason: String) {
        unreadable.append(ImportReport.Unreadable(file: path, line: 0, reason: reason))
    }

    private enum Kind {
        case folder, file(byteCount: Int64), link, missing, other
    }

    /// Whether a link leads to a folder.
    private static func isFolder(_ link: String) -> Bool {
        var status = stat()
        return stat(link, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Returns the type of file at a path, without following a link.
    private static func kind(of path: String) -> Kind {
        var status = stat()
        guard lstat(path, &status) == 0 else { return .missing }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return .folder
        case S_IFREG: return .file(byteCount: Int64(status.st_size))
        case S_IFLNK: return .link
        default: return .other
        }
    }
}
