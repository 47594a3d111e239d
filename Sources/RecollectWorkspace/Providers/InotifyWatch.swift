#if os(Linux)
    import Foundation
    import RecollectCore
    import RecollectFileSystem

    #if canImport(Musl)
        import Musl
    #else
        import Glibc
    #endif

    func systemWatch(path: String, onChange: @escaping @Sendable () -> Void) -> any FolderWatch {
        InotifyWatch(path: path, onChange: onChange) ?? PollingWatch(path: path, onChange: onChange)
    }

    /// Watches folders with the kernel's inotify.
    ///
    /// `@unchecked Sendable` because mutable state is used on `queue` only.
    final class InotifyWatch: FolderWatch, @unchecked Sendable {
        private let path: String
        private let descriptor: Int32
        private let onChange: @Sendable () -> Void
        private let queue = DispatchQueue(label: "recollect.workspace.watch")
        private let source: any DispatchSourceRead
        /// The replacement for inotify beyond the kernel's limit of watched folders.
        private var polling: PollingWatch?

        /// Creates a running watch; `nil` if the kernel returns no descriptor.
        init?(path: String, onChange: @escaping @Sendable () -> Void) {
            let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
            guard descriptor >= 0 else { return nil }
            self.path = path
            self.descriptor = descriptor
            self.onChange = onChange
            source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            source.setEventHandler { [weak self] in self?.receive() }
            source.setCancelHandler { close(descriptor) }
            queue.sync { watchFolders() }
            source.resume()
        }

        deinit {
            source.cancel()
        }

        func cancel() {
            source.cancel()
            queue.async { [self] in
                polling?.cancel()
                polling = nil
            }
        }

        /// Watches every folder not yet watched. Others stay watched.
        private func watchFolders() {
            // Removing the root is a change, too. No folder is left to watch then.
            guard let root = try? OpenFolder(path: path) else { return }
            watch(root, at: path)
        }

        private func watch(_ folder: OpenFolder, at path: String) {
            // Watch first, then list: the kernel reports changes in between, and the listing has the earlier
            // folders.
            guard inotify_add_watch(descriptor, path, Self.events) >= 0 else {
                if errno == ENOSPC, polling == nil { polling = PollingWatch(path: self.path, onChange: onChange) }
                return
            }
            for name in (try? folder.names()) ?? [] {
                guard let entry = try? folder.entry(name), entry.kind == .folder, let next = try? folder.folder(name)
                else { continue }
                watch(next, at: path + "/" + name)
            }
        }

        private func receive() {
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            var isChange = false
            var hasNewFolders = false
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                guard count > 0 else { break }
                var rest = buffer[..<count]
                while let event = Event(&rest) {
                    hasNewFolders = hasNewFolders || event.mask & Self.newFolders != 0
                    isChange = isChange || !FolderWatchRules.isTemporary(event.name)
                }
            }
            if hasNewFolders { watchFolders() }
            if isChange { onChange() }
        }

        private static let events =
            UInt32(IN_CREATE) | UInt32(IN_MODIFY) | UInt32(IN_CLOSE_WRITE) | UInt32(IN_MOVED_FROM) | UInt32(IN_MOVED_TO)
            | UInt32(IN_DELETE) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_ATTRIB) | UInt32(IN_ONLYDIR)

        /// Events after which folders may lack a watch: a folder is new or has become readable, or the kernel
        /// dropped events.
        private static let newFolders = UInt32(IN_ISDIR) | UInt32(IN_Q_OVERFLOW)

        /// The fields of `struct inotify_event`.
        private struct Event {
            let mask: UInt32
            let name: String

            /// Creates an event from the first bytes, and removes them; `nil` if none is left.
            init?(_ bytes: inout ArraySlice<UInt8>) {
                guard bytes.count >= 16 else { return nil }
                let fields = bytes.prefix(16).withUnsafeBytes { raw in
                    (
                        mask: raw.loadUnaligned(fromByteOffset: 4, as: UInt32.self),
                        length: raw.loadUnaligned(fromByteOffset: 12, as: UInt32.self)
                    )
                }
                mask = fields.mask
                let rest = bytes.dropFirst(16)
                name = String(decoding: rest.prefix(Int(fields.length)).prefix { $0 != 0 }, as: UTF8.self)
                bytes = rest.dropFirst(Int(fields.length))
            }
        }
    }
#endif
