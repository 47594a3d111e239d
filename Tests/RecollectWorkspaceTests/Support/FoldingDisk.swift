import Foundation
import RecollectTestSupport

#if os(Linux)
    import Glibc
#endif

/// A file system that ignores the case of names, in a file, where the tests run as root and have NTFS's driver.
final class FoldingDisk {
    let url: URL

    init(in folder: URL) throws {
        url = folder.appendingPathComponent("folding")
        let image = folder.appendingPathComponent("folding.image")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try Data(count: 8 << 20).write(to: image)
        #if os(Linux)
            // Not by `Process`, which waits until the driver that is started in the background ends, too.
            let mount =
                "mkntfs -qF '\(image.path)' && lowntfs-3g -o ignore_case,permissions,entry_timeout=0,negative_timeout=0,attr_timeout=0 '\(image.path)' '\(url.path)'"
            guard system("{ \(mount); } >/dev/null 2>&1") == 0 else { throw CocoaError(.featureUnsupported) }
        #else
            throw CocoaError(.featureUnsupported)
        #endif
    }

    deinit {
        try? run("umount", "-l", url.path)
    }

    fileprivate static let isPossible: Bool = {
        guard let folder = try? TestFolder() else { return false }
        return (try? FoldingDisk(in: folder.url)) != nil
    }()
}

extension Need {
    /// A `FoldingDisk`.
    static let foldingDisk = Need("root, mkntfs and lowntfs-3g") { FoldingDisk.isPossible }
}
