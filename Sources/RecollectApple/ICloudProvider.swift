#if os(iOS) || os(macOS) || os(visionOS)
    import Foundation
    import RecollectCore
    import RecollectWorkspace

    /// A workspace in iCloud Documents.
    ///
    /// A folder as any other (`FolderProvider` does the work), with what iCloud asks for around it: reads and writes are coordinated, each
    /// within a bound; a file that is not on this device is neither opened nor replaced; versions that lost a conflict are told, and
    /// marked as resolved only when their content was read.
    public final class ICloudProvider: WorkspaceProvider {
        /// The container's `Documents`.
        public var rootURL: URL { folder.rootURL }

        private let folder: FolderProvider
        private let coordination: Coordination

        /// Opens the `Documents` folder of a container, which is made if it is missing.
        /// - Parameters:
        ///   - documents: the folder.
        ///   - seconds: how long other processes are waited for before `timedOut` is thrown.
        public init(documents: URL, waiting seconds: Int = 10) throws {
            folder = try FolderProvider(root: documents)
            coordination = Coordination(limit: .seconds(seconds))
        }

        /// What lies in a folder, with what iCloud says of it.
        public func items(in path: WorkspacePath) throws -> [WorkspaceItem] {
            try folder.items(in: path).map(told)
        }

        /// The names of what is left out of a folder's list.
        public func unlistedNames(in path: WorkspacePath) throws -> [String] { try folder.unlistedNames(in: path) }

        /// One file or folder, with what iCloud says of it.
        public func item(at path: WorkspacePath) throws -> WorkspaceItem? {
            try folder.item(at: path).map(told)
        }

        /// The path under which a file or folder lies: the containers of most systems ignore case.
        public func spelling(of path: WorkspacePath) throws -> WorkspacePath { try folder.spelling(of: path) }

        /// The bytes of a file, by a coordinated read; never starts a download.
        /// - Throws: besides what every provider throws `timedOut`, where others hold the file for longer than the bound.
        public func read(_ path: WorkspacePath, limit: Int) throws -> [UInt8] {
            // A coordinated read of what is not here would wait for the download.
            try requireContent(of: path)
            let folder = folder
            return try coordination.reading(url(of: path)) { try folder.read(path, limit: limit) }
        }

        /// Gives a file new content, in a coordinated write.
        /// - Throws: besides what every provider throws `timedOut`, and then nothing was written.
        public func write(_ bytes: [UInt8], to path: WorkspacePath, replacing expected: ContentHash?) throws {
            try requireContent(of: path)
            let folder = folder
            try coordination.writing(url(of: path), .forReplacing) {
                try folder.write(bytes, to: path, replacing: expected)
            }
        }

        /// Removes a file, in a coordinated write.
        /// - Throws: besides what every provider throws `timedOut`, and then nothing was removed.
        public func remove(_ path: WorkspacePath, holding expected: ContentHash) throws {
            try requireContent(of: path)
            let folder = folder
            try coordination.writing(url(of: path), .forDeleting) { try folder.remove(path, holding: expected) }
        }

        /// Copies what a file has beside its content to a file of this device.
        public func saveDetails(of path: WorkspacePath, to url: URL) throws {
            try requireContent(of: path)
            try folder.saveDetails(of: path, to: url)
        }

        /// Gives a file what `saveDetails` copied.
        public func applyDetails(
            from url: URL, to path: WorkspacePath, holding expected: ContentHash, isDated: Bool
        ) throws {
            try requireContent(of: path)
            try folder.applyDetails(from: url, to: path, holding: expected, isDated: isDated)
        }

        /// Settles what writers that were killed left in a folder. Not coordinated: nobody else knows of these files.
        public func settleLeftovers(
            in path: WorkspacePath, includingRecent: Bool, isKnown: (ContentHash, WorkspacePath?) throws -> Bool
        ) throws -> SettledLeftovers {
            try folder.settleLeftovers(in: path, includingRecent: includingRecent, isKnown: isKnown)
        }

        /// Asks iCloud for the content; returns at once.
        public func requestDownload(of path: WorkspacePath) throws {
            guard let item = try item(at: path), item.state == .notLocal else { return }
            try FileManager.default.startDownloadingUbiquitousItem(at: url(of: path))
        }

        /// The files in the lineage folder that are on this device.
        public func lineageFiles() throws -> [LineageFile] { try folder.lineageFiles() }

        /// A file of the lineage folder; `nil` if it is not on this device.
        public func lineageFile(_ name: String) throws -> LineageFile? { try folder.lineageFile(name) }

        /// Replaces a file of the lineage folder. Not coordinated: nobody else writes it.
        public func writeLineageFile(_ name: String, _ bytes: [UInt8]?) throws {
            try folder.writeLineageFile(name, bytes)
        }

        /// Wakes when iCloud tells of a change in its documents; needs a main run loop.
        public func wakes() -> AsyncStream<Void> {
            AsyncStream(bufferingPolicy: .bufferingNewest(1)) { stream in
                let watch = MetadataWatch { stream.yield() }
                stream.onTermination = { _ in watch.end() }
            }
        }

        // MARK: Versions

        /// The versions that lost a conflict and whose content is here.
        public func conflictVersions(of path: WorkspacePath) throws -> [ConflictVersion] {
            let url = url(of: path)
            let readable = try unresolvedVersions(of: url)
            let versions = readable.map { ConflictVersion(id: $0.id, bytes: $0.bytes) }
            return try folder.conflictVersions(of: path) + versions
        }

        /// Marks versions as resolved that still have the content that was read; others are told again.
        public func resolve(_ versions: [ConflictVersion], of path: WorkspacePath) throws {
            try folder.resolve(versions.filter { !$0.id.hasPrefix(Self.idPrefix) }, of: path)
            let url = url(of: path)
            let wanted = Set(versions)
            guard wanted.contains(where: { $0.id.hasPrefix(Self.idPrefix) }) else { return }
            try coordination.writing(url, .contentIndependentMetadataOnly) {
                for (version, id, bytes) in try Self.versions(of: url)
                where wanted.contains(ConflictVersion(id: id, bytes: bytes)) {
                    version.isResolved = true
                }
            }
        }

        private func unresolvedVersions(of url: URL) throws -> [(id: String, bytes: [UInt8])] {
            guard NSFileVersion.unresolvedConflictVersionsOfItem(at: url)?.isEmpty == false else { return [] }
            return try coordination.reading(url) { try Self.versions(of: url).map { ($0.id, $0.bytes) } }
        }

        /// The versions of a file that lost a conflict and whose content is here. What is not is neither told nor resolved.
        private static func versions(of url: URL) throws -> [(version: NSFileVersion, id: String, bytes: [UInt8])] {
            let versions = NSFileVersion.unresolvedConflictVersionsOfItem(at: url) ?? []
            return try versions.filter(\.hasLocalContents).map { version in
                let bytes = [UInt8](try Data(contentsOf: version.url))
                let moment = version.modificationDate?.timeIntervalSince1970 ?? 0
                return (version, "\(idPrefix)\(moment)-\(ContentHash(of: bytes).rawValue)", bytes)
            }
        }

        private static let idPrefix = "NSFileVersion-"

        // MARK: States

        private func url(of path: WorkspacePath) -> URL {
            path.names.reduce(rootURL) { $0.appendingPathComponent($1) }
        }

        private func requireContent(of path: WorkspacePath) throws {
            guard let item = try item(at: path), item.state == .notLocal || item.state == .downloading else { return }
            throw RecollectError(.notLocal, "the content of \(path) is not on this device yet")
        }

        /// An item with what iCloud says of it.
        private func told(_ item: WorkspaceItem) -> WorkspaceItem {
            guard !item.isFolder, let values = try? url(of: item.path).resourceValues(forKeys: Self.keys) else {
                return item
            }
            let cloud = CloudItemState(
                status: values.ubiquitousItemDownloadingStatus?.rawValue,
                isDownloading: values.ubiquitousItemIsDownloading ?? false,
                hasUnresolvedVersions: values.ubiquitousItemHasUnresolvedConflicts ?? false,
                isUploaded: values.ubiquitousItemIsUploaded, uploadError: values.ubiquitousItemUploadingError)
            return WorkspaceItem(
                path: item.path, isFolder: false, size: item.size, modified: item.modified,
                state: cloud.state(of: item.state), stamp: item.stamp, upload: cloud.upload)
        }

        private static let keys: Set<URLResourceKey> = [
            .ubiquitousItemDownloadingStatusKey, .ubiquitousItemIsDownloadingKey,
            .ubiquitousItemHasUnresolvedConflictsKey, .ubiquitousItemIsUploadedKey, .ubiquitousItemUploadingErrorKey,
        ]
    }
#endif
