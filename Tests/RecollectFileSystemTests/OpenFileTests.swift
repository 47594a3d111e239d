#if os(Linux)
    import Foundation
    import RecollectTestSupport
    import Testing

    @testable import RecollectFileSystem

    @Suite("Open files") struct OpenFileTests {
        @Test("A stamp lists its numbers in decimal, also the largest and negative ones")
        func stamp() {
            var status = stat()
            #expect("\(FileStamp(status))" == "0 0 0 0.0")
            status.st_dev = .max
            status.st_ino = .max
            (status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec) = (.min, .min, .min)
            #expect(
                "\(FileStamp(status))"
                    == "\(UInt64.max) \(UInt64.max) \(Int64.min) \(Int64.min).\(Int64.min)")
            (status.st_dev, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec) = (2049, 1_020, -7, 5)
            #expect("\(FileStamp(status))" == "2049 \(UInt64.max) 1020 -7.5")
        }

        @Test(
            "Rights copied without the group give the file's own group no more rights than others have",
            .enabled(if: geteuid() == 0, "needs root"),
            arguments: [
                (0o600, 0o600), (0o660, 0o600), (0o640, 0o600), (0o750, 0o700), (0o644, 0o644), (0o664, 0o644),
                (0o777, 0o777), (0o604, 0o604),
            ] as [(mode_t, mode_t)])
        func group(mode: mode_t, expected: mode_t) throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recollect-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let position = try OpenFolder.make(path: folder.path)
            let files = try ["old", "new", "root's"].map { try position.makeFile($0) }
            #expect(fchown(files[0].descriptor, 65_534, 12_345) == 0 && fchmod(files[0].descriptor, mode) == 0)
            #expect(fchown(files[1].descriptor, 65_534, 65_534) == 0)
            try withoutPrivileges { try files[1].takeRights(of: files[0]) }
            let mine = try status(of: files[1].descriptor)
            #expect(mine.st_gid == 65_534)
            #expect(mine.st_mode & 0o777 == expected)
            // Root can set the group.
            try files[2].takeRights(of: files[0])
            let roots = try status(of: files[2].descriptor)
            #expect(roots.st_gid == 12_345 && roots.st_mode & 0o777 == mode)
        }
    }
#endif
