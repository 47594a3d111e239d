import Foundation
import RecollectCore
import RecollectFileSystem

/// Compares the stamps of all files once a second, on systems without notifications of changes.
///
/// `@unchecked Sendable` because mutable state is used on `queue` only.
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

    /// Compares immediately, for tests.
    func poll() {
        queue.sync { compare() }
    }

    private func compare() {
        let stamps = stamps()
        guard stamps != known else { return }
        known = stamps
        onChange()
    }

    /// Returns the stamps of all visible files; `nil` if the folder cannot be opened.
    private func stamps() -> [String: FileStamp]? {
        guard let root = try? OpenFolder(path: path) else { return nil }
        var stamps: [String: FileStamp] = [:]
        add(root, at: "", to: &stamps)
        return stamps
    }

    private func add(_ folder: OpenFolder, at path: String, to stamps: inout [String: FileStamp]) {
        // Files removed or refused during the comparison are handled by the next one.
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
    /// Whether a name belongs to a file being prepared by a sync service or by Recollect.
    static func isTemporary(_ name: String) -> Bool {
        name.hasPrefix(".syncthing.") || name.hasPrefix("~syncthing~")
    }
}
