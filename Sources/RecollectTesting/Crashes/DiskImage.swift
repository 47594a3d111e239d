import Foundation
import RecollectCore
import RecollectFileSystem

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The content of a folder after the steps of a journal, and the part of it that is certain to survive a power cut.
///
/// Certain are a file's content at its last sync, and a name at the last sync of its folder. Of later writes and
/// names, any subset may survive.
struct DiskImage: Sendable {
    enum Node: Hashable, Sendable {
        case folder
        /// A file, by its number in this image. Two names may refer to one file.
        case file(Int)
    }

    /// A change of a file's content.
    enum ContentChange: Sendable {
        case write(offset: Int, bytes: [UInt8])
        case truncate(size: Int)
    }

    /// An atomic change of names in one folder.
    struct NameChange: Sendable {
        var folder: String
        var names: [(path: String, node: Node?)]
    }

    private(set) var names: [String: Node] = [:]
    private(set) var contents: [Int: [UInt8]] = [:]
    private(set) var certainNames: [String: Node] = [:]
    private(set) var certainContents: [Int: [UInt8]] = [:]
    private(set) var pendingNames: [NameChange] = []
    private(set) var pendingContents: [Int: [ContentChange]] = [:]
    private var numbers: [FileIdentity: Int] = [:]

    /// Creates an image of an existing folder, all of it certain. SQLite's shared memory is omitted, since SQLite
    /// recreates it.
    init(folder: URL) throws {
        guard let enumerator = FileManager.default.enumerator(atPath: folder.path) else { return }
        for case let path as String in enumerator where !Self.isSharedMemory(path) {
            let full = folder.path + "/" + path
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: full, isDirectory: &isFolder) else { continue }
            if isFolder.boolValue {
                names[path] = .folder
            } else if let identity = FileRecorder.identity(at: full) {
                let number = numbers[identity] ?? numbers.count
                numbers[identity] = number
                names[path] = .file(number)
                contents[number] = Array(try Data(contentsOf: URL(fileURLWithPath: full)))
            }
        }
        certainNames = names
        certainContents = contents
    }

    init(names: [String: Node], contents: [Int: [UInt8]]) {
        self.names = names
        self.contents = contents
    }

    static func isSharedMemory(_ path: String) -> Bool { path.hasSuffix("-shm") }

    /// Returns the folder of a path; empty for a name in the root.
    static func parent(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    }

    // MARK: Applying

    mutating func apply(_ entry: RecordedStep) {
        switch entry.action {
        case .makeFolder:
            if names[entry.path] == nil { rename([(entry.path, .folder)]) }
        case .makeFile: makeFile(entry)
        case .write: change(entry, .write(offset: entry.number, bytes: entry.bytes))
        case .truncate: change(entry, .truncate(size: entry.number))
        case .syncFile:
            guard let number = entry.file.flatMap({ numbers[$0] }) else { return }
            certainContents[number] = contents[number]
            pendingContents[number] = nil
        case .syncFolder:
            for change in pendingNames where change.folder == entry.path { Self.apply(change, to: &certainNames) }
            pendingNames.removeAll { $0.folder == entry.path }
        case .rename:
            guard let node = names[entry.path] else { return }
            rename([(entry.target, node), (entry.path, nil)])
        case .link:
            guard let node = names[entry.path] else { return }
            rename([(entry.target, node)])
        case .remove:
            if names[entry.path] != nil { rename([(entry.path, nil)]) }
        case .lock, .unlock, .note, .end: return
        }
    }

    private mutating func makeFile(_ entry: RecordedStep) {
        guard let identity = entry.file else { return }
        // Opening an existing file creates none. After a file's removal, its inode number may be reused.
        if let number = numbers[identity], names[entry.path] == .file(number) { return }
        let number = contents.count
        numbers[identity] = number
        contents[number] = []
        certainContents[number] = []
        rename([(entry.path, .file(number))])
    }

    private mutating func change(_ entry: RecordedStep, _ change: ContentChange) {
        guard let number = entry.file.flatMap({ numbers[$0] }) else { return }
        Self.apply(change, to: &contents[number, default: []])
        pendingContents[number, default: []].append(change)
    }

    private mutating func rename(_ changed: [(path: String, node: Node?)]) {
        let change = NameChange(folder: Self.parent(of: changed[0].path), names: changed)
        Self.apply(change, to: &names)
        pendingNames.append(change)
    }

    static func apply(_ change: NameChange, to names: inout [String: Node]) {
        for (path, node) in change.names { names[path] = node }
    }

    static func apply(_ change: ContentChange, to bytes: inout [UInt8]) {
        switch change {
        case .truncate(let size):
            if size < bytes.count {
                bytes.removeLast(bytes.count - size)
            } else {
                bytes += [UInt8](repeating: 0, count: size - bytes.count)
            }
        case .write(let offset, let new):
            let end = offset + new.count
            if end > bytes.count { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
            bytes.withUnsafeMutableBytes { target in
                new.withUnsafeBytes { source in
                    guard let to = target.baseAddress, let from = source.baseAddress else { return }
                    memcpy(to + offset, from, source.count)
                }
            }
        }
    }

    // MARK: As a folder

    /// Writes the image into an empty folder.
    func write(to folder: URL) throws {
        var written: [Int: String] = [:]
        for (path, node) in names.sorted(by: { $0.key < $1.key }) where hasItsFolder(path) {
            let full = folder.path + "/" + path
            switch node {
            case .folder: guard mkdir(full, 0o700) == 0 else { throw POSIXFailure.last }
            case .file(let number):
                if let other = written[number] {
                    guard link(other, full) == 0 else { throw POSIXFailure.last }
                } else {
                    written[number] = full
                    try Self.makeFile(at: full, contents[number] ?? [])
                }
            }
        }
    }

    /// Whether the folders above a path exist. Otherwise the path is unreachable.
    private func hasItsFolder(_ path: String) -> Bool {
        let parent = Self.parent(of: path)
        return parent.isEmpty || (names[parent] == .folder && hasItsFolder(parent))
    }

    private static func makeFile(at path: String, _ bytes: [UInt8]) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw POSIXFailure.last }
        defer { close(descriptor) }
        var written = 0
        try bytes.withUnsafeBytes { buffer in
            while written < buffer.count, let start = buffer.baseAddress {
                let count = pwrite(descriptor, start + written, buffer.count - written, off_t(written))
                guard count > 0 else { throw POSIXFailure.last }
                written += count
            }
        }
    }

    /// Returns the first difference between a folder and this image; `nil` if there is none. It proves that a
    /// journal is complete.
    func difference(from folder: URL) throws -> String? {
        let real = try DiskImage(folder: folder)
        let mine = Set(names.keys.filter { !Self.isSharedMemory($0) })
        if let name = mine.symmetricDifference(real.names.keys).sorted().first {
            return "\(name) is \(mine.contains(name) ? "recorded but missing" : "present but not recorded")"
        }
        for (path, node) in real.names.sorted(by: { $0.key < $1.key }) {
            guard case .file(let number) = node, case .file(let recorded) = names[path] else { continue }
            if real.contents[number] != contents[recorded] { return "\(path) differs from the recorded content" }
        }
        return nil
    }
}
