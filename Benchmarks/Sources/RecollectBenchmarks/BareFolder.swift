import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The baseline of a scan: a folder, by system calls only.
struct BareFolder {
    let path: String

    /// Lists all folders and reads the state of each file.
    func size() throws -> (files: Int, bytes: Int) {
        var size = (files: 0, bytes: 0)
        try forEachFile { _, status in
            size.files += 1
            size.bytes += Int(status.st_size)
        }
        return size
    }

    /// Reads all files and writes each content to a file of its own, with one sync at the end.
    func copy(to target: String) throws {
        try check(mkdir(target, 0o700))
        var number = 0
        try forEachFile { path, _ in
            try writeFile(readFile(path), to: "\(target)/\(number)")
            number += 1
        }
        // `syncfs` is missing in Swift on some systems.
        sync()
    }

    private func forEachFile(_ body: (String, stat) throws -> Void) throws {
        var folders = [path]
        while let folder = folders.popLast() {
            guard let stream = opendir(folder) else { throw Baseline.Failure(text: folder) }
            defer { closedir(stream) }
            while let entry = readdir(stream) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                guard name != ".", name != ".." else { continue }
                var status = stat()
                let path = folder + "/" + name
                try check(lstat(path, &status))
                if status.st_mode & S_IFMT == S_IFDIR { folders.append(path) } else { try body(path, status) }
            }
        }
    }
}

/// The baseline of a write: writes a file beside the old one, syncs it, renames it over the old one, and syncs the folder.
final class BareWriter {
    let url: URL
    private let folder: Int32

    init(folder path: String) throws {
        url = URL(fileURLWithPath: path)
        try check(mkdir(path, 0o700))
        folder = try check(open(path, O_RDONLY | O_DIRECTORY))
    }

    deinit { close(folder) }

    func read(_ name: String) throws -> [UInt8] { try readFile(path(name)) }

    func write(_ bytes: [UInt8], to name: String) throws {
        try writeFile(bytes, to: path("beside"), syncing: true)
        try check(rename(path("beside"), path(name)))
        try check(fsync(folder))
    }

    func remove(_ name: String) throws {
        try check(unlink(path(name)))
        try check(fsync(folder))
    }

    private func path(_ name: String) -> String { url.path + "/" + name }
}

private func readFile(_ path: String) throws -> [UInt8] {
    let file = try check(open(path, O_RDONLY))
    defer { close(file) }
    var status = stat()
    try check(fstat(file, &status))
    return try [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, count in
        count = try check(pread(file, buffer.baseAddress, buffer.count, 0))
    }
}

private func writeFile(_ bytes: [UInt8], to path: String, syncing: Bool = false) throws {
    let file = try check(open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600))
    defer { close(file) }
    try check(pwrite(file, bytes, bytes.count, 0))
    if syncing { try check(fsync(file)) }
}

@discardableResult
private func check<Number: SignedInteger>(_ result: Number) throws -> Number {
    guard result >= 0 else { throw Baseline.Failure(text: String(cString: strerror(errno))) }
    return result
}
