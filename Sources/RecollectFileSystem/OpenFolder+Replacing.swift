import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

extension OpenFolder {
    /// Replaces a file atomically: writes and syncs a temporary file, and renames it to `name`.
    ///
    /// At any time, even after a power loss, `name` refers to the old file or to the new one. With `aside` on a
    /// file system without hard links, there is a short time without a file at `name`. The new name is durable on
    /// return.
    /// - Parameter aside: A name for keeping the old file; `nil` to remove it.
    /// - Returns: The new file.
    package func replace(
        _ name: String, keepingOldAs aside: String? = nil, write: (OpenFile) throws -> Void
    ) throws -> OpenFile {
        let (temporary, file) = try stage { file in
            try write(file)
            try file.synchronize()
        }
        do {
            if let aside { try setAside(name, as: aside) }
            try rename(temporary, to: name)
        } catch {
            // If this fails, `removeLeftovers` removes the file later. The caller gets the first error.
            try? remove(temporary)
            throw error
        }
        try synchronize()
        return file
    }

    /// Writes a file under a temporary name, to be renamed later. On failure, the file is removed.
    package func stage(_ write: (OpenFile) throws -> Void) throws -> (name: String, file: OpenFile) {
        let name = Self.temporaryPrefix + UUID.random().uuidString
        let file = try makeFile(name)
        do {
            try write(file)
        } catch {
            try? remove(name)
            throw error
        }
        return (name, file)
    }

    /// Removes temporary files of `replace` and `stage` whose process has ended. Requires the exclusive lock, so
    /// that no writer uses them.
    ///
    /// Folders, and files with only a similar name, are foreign and stay.
    package func removeLeftovers(among names: [String]) throws {
        for name in names where name.hasPrefix(Self.temporaryPrefix) {
            guard UUID(uuidString: String(name.dropFirst(Self.temporaryPrefix.count))) != nil,
                try entry(name)?.kind == .file
            else { continue }
            try remove(name)
        }
    }

    /// Overwrites the bytes of a file with NULs, and removes it. Durable on return. Does nothing without such a file.
    ///
    /// A disk or file system that writes to new blocks, such as an SSD, may still have the old ones.
    package func erase(_ name: String) throws {
        guard let file = try nilIfMissing({ try self.file(name, forWriting: true) }) else { return }
        let size = try file.size()
        for offset in stride(from: 0, to: size, by: Self.erasedCount) {
            try file.write([UInt8](repeating: 0, count: min(Self.erasedCount, size - offset)), at: offset)
        }
        try file.synchronize()
        try remove(name)
        try synchronize()
    }

    /// The number of bytes overwritten at once.
    private static let erasedCount = 1 << 20

    private static let temporaryPrefix = ".recollect-"

    /// Gives a file a second name, or renames it on a file system without hard links.
    private func setAside(_ name: String, as aside: String) throws {
        do {
            try FileObservation.perform(.link(path: path(of: name), to: path(of: aside))) {
                guard linkat(descriptor, name, descriptor, aside, 0) == 0 else { throw POSIXFailure.last }
            }
        } catch let failure as POSIXFailure
            where [EPERM, ENOTSUP, EOPNOTSUPP, EMLINK, ENOSYS].contains(failure.number)
        {
            try rename(name, to: aside)
        }
    }

    /// Renames a file, and replaces any file of the new name.
    package func rename(_ name: String, to newName: String) throws {
        try FileObservation.perform(.rename(path: path(of: name), to: path(of: newName))) {
            _ = try retrying { Int(renameat(descriptor, name, descriptor, newName)) }
        }
    }

    /// Removes a file's name.
    package func remove(_ name: String) throws {
        try FileObservation.perform(.remove(path: path(of: name))) {
            _ = try retrying { Int(unlinkat(descriptor, name, 0)) }
        }
    }
}
