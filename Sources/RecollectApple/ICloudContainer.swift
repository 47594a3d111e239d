#if os(iOS) || os(macOS) || os(visionOS)
    import Foundation
    import RecollectWorkspace

    /// The iCloud container of an app: where its workspace lies for the account that is signed in.
    ///
    /// The entitlements that it needs are in the guide <doc:ICloud-Documents>.
    public struct ICloudContainer: WorkspaceContainer {
        private let identifier: String?

        /// Names a container.
        /// - Parameter identifier: `iCloud.com.example.app`; `nil` for the first one of the app's entitlements.
        public init(identifier: String? = nil) {
            self.identifier = identifier
        }

        /// Names the account, as the system does; returns at once.
        public func accountToken() -> Data? {
            guard let token = FileManager.default.ubiquityIdentityToken else { return nil }
            return try? NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: false)
        }

        /// The container's `Documents`; blocks, so it is never called on the main thread.
        public func containerURL() -> URL? {
            FileManager.default.url(forUbiquityContainerIdentifier: identifier)?
                .appendingPathComponent("Documents", isDirectory: true)
        }

        /// Opens the folder that the container had at a URL.
        public func provider(at url: URL) throws -> any WorkspaceProvider {
            try ICloudProvider(documents: url)
        }

        /// Wakes on `NSUbiquityIdentityDidChange`.
        public func accountChanges() -> AsyncStream<Void> {
            AsyncStream(bufferingPolicy: .bufferingNewest(1)) { stream in
                let observer = Observer(.NSUbiquityIdentityDidChange) { stream.yield() }
                stream.onTermination = { _ in observer.end() }
            }
        }
    }

    extension SharedWorkspace {
        /// Opens the workspace in iCloud Documents: the remembered container of the account that is signed in, else the local replica.
        ///
        /// Never waits for iCloud. What `lookUpContainer()` finds is used by the next instance, into which `mergeReplica()` folds the
        /// replica: nothing calls either by itself.
        /// - Throws: what opening a workspace over a container throws.
        public static func iCloud(
            containerIdentifier: String? = nil, configuration: WorkspaceConfiguration = WorkspaceConfiguration()
        ) throws -> SharedWorkspace {
            try SharedWorkspace(
                container: ICloudContainer(identifier: containerIdentifier), configuration: configuration)
        }
    }
#endif
