import Foundation

/// Returns the next bytes of a pipe, at most 64 KB; none at its end.
///
/// `FileHandle.availableData` and `readDataToEndOfFile` end the process on Linux if a signal interrupts them.
package func nextBytes(of handle: FileHandle) -> Data {
    var bytes = [UInt8](repeating: 0, count: 64 << 10)
    while true {
        let count = bytes.withUnsafeMutableBytes { read(handle.fileDescriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        return Data(bytes.prefix(max(0, count)))
    }
}

/// Returns the remaining bytes of a pipe, to its end.
package func remainingBytes(of handle: FileHandle) -> Data {
    var all = Data()
    while case let bytes = nextBytes(of: handle), !bytes.isEmpty { all += bytes }
    return all
}
