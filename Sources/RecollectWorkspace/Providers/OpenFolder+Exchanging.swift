import CFiles
import RecollectCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

extension OpenFolder {
    /// Gives each of two names what the other one names, in one step. Returns whether the file system can.
    func exchange(_ left: String, _ right: String) throws -> Bool {
        try canDo { recollect_exchange(descriptor, left, descriptor, right) }
    }

    /// Gives a file a name that nothing has yet; `EEXIST` where something has.
    func renameExclusively(_ name: String, to newName: String) throws {
        if try canDo({ recollect_rename_exclusively(descriptor, name, descriptor, newName) }) { return }
        // A second name is exclusive too.
        if try canDo({ linkat(descriptor, name, descriptor, newName, 0) }) {
            try remove(name)
        } else {
            // No such thing here (FAT): what comes between this look and the next call is overwritten.
            guard try entry(newName) == nil else { throw POSIXFailure(EEXIST) }
            try rename(name, to: newName)
        }
    }

    private func canDo(_ call: () -> Int32) throws -> Bool {
        while call() != 0 {
            if Self.unable.contains(errno) { return false }
            guard errno == EINTR else { throw POSIXFailure.last }
        }
        return true
    }
}
