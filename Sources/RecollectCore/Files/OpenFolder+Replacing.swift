import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

extension OpenFolder {
    /// Writes a file under another name and gives it `name` when it is on the disk: at any moment, a power cut too, `name` is
    /// the old file or the new one.
    /// - Parameter aside: A name that the old file keeps; without it the old file is gone.
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
            // What cannot be removed now goes with the leftovers; the caller hears of the first failure.
            try? remove(temporary)
            throw error
        }
        try synchronize()
        return file
    }

    /// Writes a file under a name that is nobody's, for `rename` to give it one. Nothing is left of one that fails.
    package func stage(_ write: (OpenFile) throws -> Void) throws -> (name: String, file: OpenFile) {
        let name = Self.temporaryPrefix + UUID().uuidString
        let file = try makeFile(name)
        do {
            try write(file)
        } catch {
            try? remove(name)
            throw error
        }
        return (name, file)
    }

    /// Removes what `replace` or `stage` was writing when its process ended. For callers that hold the exclusive lock: nobody is writing it.
    /// What only begins like one of those, or is no file, is somebody else's and stays.
    package func removeLeftovers(among names: [String]) throws {
        for name in names where name.hasPrefix(Self.temporaryPrefix) {
            guard UUID(uuidString: String(name.dropFirst(Self.temporaryPrefix.count))) != nil,
                try entry(name)?.kind == .file
            else { continue }
            try remove(name)
        }
    }

    private static let temporaryPrefix = ".recollect-"

    /// Gives a file a second name, or a new one where the file system has no second names.
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

    /// Gives a file another name, whatever has that.
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
