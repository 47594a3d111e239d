import CRecollectFileSystem

/// A file mapped into memory.
package enum MappedFile {
    /// Allocates the blocks of a mapped part of a file, as a write to it would.
    /// - Throws: `EFAULT` if a write would end the process with SIGBUS because the disk is full; another number if
    ///   the system cannot do this.
    package static func allocateBlocks(at start: UnsafeMutableRawPointer, size: Int) throws(POSIXFailure) {
        guard recollect_allocate_mapped(start, UInt(size)) == 0 else { throw POSIXFailure.last }
    }
}
