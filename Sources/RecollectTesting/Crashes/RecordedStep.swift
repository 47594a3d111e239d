/// The identity of a file, independent of its name.
struct FileIdentity: Hashable, Codable, Sendable {
    var device: UInt64
    var inode: UInt64
}

/// One step of a recorded run: an operation on a file, a lock, or a note of the workload.
///
/// Paths are relative to the run's folder. The encoded form is without the bytes; they follow it in a
/// `WorkerMessage`.
struct RecordedStep: Codable, Sendable {
    enum Action: String, Codable, Sendable {
        case makeFolder, makeFile, write, truncate, syncFile, syncFolder, rename, link, remove, lock, unlock, note
        /// The end of the process, and with it of its locks.
        case end
    }

    var process = 0
    let action: Action
    var path = ""
    /// The new path of a rename or link.
    var target = ""
    var file: FileIdentity?
    /// The offset of a write, the new size of a truncation, or the holder of a lock.
    var number = 0
    var bytes: [UInt8] = []
    var note: CrashNote?

    private enum CodingKeys: CodingKey {
        case process, action, path, target, file, number, note
    }

    /// Whether the step changes the files left by a killed process.
    var changesFiles: Bool {
        switch action {
        case .makeFolder, .makeFile, .write, .truncate, .rename, .link, .remove: true
        case .syncFile, .syncFolder, .lock, .unlock, .note, .end: false
        }
    }
}

extension RecordedStep: CustomStringConvertible {
    /// The step as shown in a fault, without the bytes written.
    var description: String {
        switch action {
        case .write: "write of \(bytes.count) bytes at \(number) of \(path)"
        case .truncate: "truncation of \(path) to \(number) bytes"
        case .rename, .link: "\(action.rawValue) of \(path) to \(target)"
        case .note: note?.description ?? "note"
        default: "\(action.rawValue) of \(path.isEmpty ? "the folder" : path)"
        }
    }
}

/// An announcement of the workload, between its operations.
enum CrashNote: Codable, Sendable, CustomStringConvertible {
    /// The store had these entries at the start of the run.
    case existing(list: String, entries: [String])
    /// These entries may be lost, by earlier damage.
    case allowedLoss(list: String, entries: [String])
    case began(change: String, list: String, adding: [String], removing: [String], words: [String])
    case ended(change: String)
    case signal(String)

    var description: String {
        switch self {
        case .existing(let list, let entries): "\(entries.count) entries are in \(list)"
        case .allowedLoss(let list, let entries): "\(entries.count) entries of \(list) are on damaged pages"
        case .began(_, let list, let adding, let removing, _):
            "start of a change of \(list): +\(adding.count) −\(removing.count)"
        case .ended: "acknowledgment"
        case .signal(let name): "signal \(name)"
        }
    }
}
