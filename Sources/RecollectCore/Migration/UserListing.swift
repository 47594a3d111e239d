/// A history that lists its users, to migrate or maintain all of it.
package protocol UserListing {
    /// Returns the IDs of all users with sessions, ordered by their bytes.
    func users() async throws -> [String]
}
