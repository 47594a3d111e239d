import Foundation
import RecollectCore

/// Looks at the stamps of all files once a second, where the system does not tell of changes.
///
/// `@unchecked Sendable` because what changes is touched on `queue` alone.
final class PollingWatch: FolderWatch, @unchecked Sendable {
    private let path: String
    private let onChange: @Sendable () -> Void
    private let queue = DispatchQueue(label: "recollect.workspace.watch")
    private let timer: any DispatchSourceTimer
    private var known: [String: FileStamp]?

    init(path: String, every seconds: Double = 1, onChange: @escaping @Sendable () -> Void) {
        self.path = path
        self.onChange = onChange
        timer = DispatchSource.makeTimerSource(queue: queue)
        queue.sync { known = stamps() }
        timer.schedule(deadline: .now() + seconds, repeating: seconds)
        timer.setEventHandler { [weak self] in self?.compare() }
        timer.resume()
    }

    deinit {
        timer.cancel()
    }

    func cancel() {
        timer.cancel()
    }

    /// Looks at once, for tests.
    func look() {
        queue.sync { compare() }
    }

    private func compare() {
        let stamps = stamps()
        guard stamps != known else { return }
        known = stamps
        onChange()
    }

    /// The stamps of all that can be seen; `nil` where the folder cannot be opened.
    private func stamps() -> [String: FileStamp]? {
        guard let root = try? OpenFolder(path: path) else { return nil }
        var stamps: [String: FileStamp] = [:]
        add(root, at: "", to: &stamps)
        return stamps
    }

    private func add(_ folder: OpenFolder, at path: String, to stamps: inout [String: FileStamp]) {
        // What is removed or refused during the look is seen, or not, by the next one.
        for name in (try? folder.names()) ?? [] where !FolderWatchRules.isTemporary(name) {
            guard let entry = try? folder.entry(name) else { continue }
            if entry.kind == .file { stamps["\(path)/\(name)"] = entry.stamp }
            guard entry.kind == .folder, let next = try? folder.folder(name) else { continue }
            stamps["\(path)/\(name)"] = nil
            stamps["\(path)/\(name)/"] = entry.stamp
            add(next, at: "\(path)/\(name)", to: &stamps)
        }
    }
}

enum FolderWatchRules {
    /// Whether a name is one under which a sync service, or we, only prepare a change.
    static func isTemporary(_ name: String) -> Bool {
        name.hasPrefix(".syncthing.") || name.hasPrefix("~syncthing~")
    }
}
