import Foundation
import RecollectTestSupport

#if os(Linux)
    import Glibc
#endif

/// A case-insensitive file system in a disk image. Requires root and the NTFS driver.
final class FoldingDisk {
    let url: URL

    init(in folder: URL) throws {
        url = folder.appendingPathComponent("folding")
        let image = folder.appendingPathComponent("folding.image")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try Data(count: 8 << 20).write(to: image)
        #if os(Linux)
            // Not with `Process`, because it also waits for the end of the driver started in the background.
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
