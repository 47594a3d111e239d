import CRecollectFileSystem

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

extension OpenFolder {
    /// Exchanges two names atomically.
    /// - Returns: `false` if the file system does not support this.
    package func exchange(_ left: String, _ right: String) throws -> Bool {
        try canDo { recollect_exchange(descriptor, left, descriptor, right) }
    }

    /// Renames a file to a free name.
    /// - Throws: `EEXIST` if the name is taken.
    package func renameExclusively(_ name: String, to newName: String) throws {
        if try canDo({ recollect_rename_exclusively(descriptor, name, descriptor, newName) }) { return }
        // A hard link also fails if the name is taken.
        if try canDo({ linkat(descriptor, name, descriptor, newName, 0) }) {
            try remove(name)
        } else {
            // Neither is supported (FAT): a file created between this check and the rename is overwritten.
            guard try entry(newName) == nil else { throw POSIXFailure(EEXIST) }
            try rename(name, to: newName)
        }
    }

    /// Renames the file at a path to a free path, without a fallback for file systems that cannot do this in one step.
    /// - Throws: `EEXIST` if the path is taken; `EINVAL`, `ENOSYS` or `ENOTSUP` if the file system cannot do this.
    package static func renameExclusively(_ path: String, to newPath: String) throws {
        guard recollect_rename_exclusively(AT_FDCWD, path, AT_FDCWD, newPath) == 0 else { throw POSIXFailure.last }
    }

    private func canDo(_ call: () -> Int32) throws -> Bool {
        while call() != 0 {
            if Self.unable.contains(errno) { return false }
            guard errno == EINTR else { throw POSIXFailure.last }
        }
        return true
    }
}
