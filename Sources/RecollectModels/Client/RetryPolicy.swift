#if Models
    import Foundation

    /// When a request that failed is sent again, and after how long.
    ///
    /// Only what may pass by itself is tried again: connections that fail, and the statuses 408, 429 and 5xx; and only as long as
    /// nothing of the answer has been given on.
    public struct RetryPolicy: Hashable, Sendable {
        /// How often a request is sent again; 0 for never.
        public var maxRetries: Int
        /// How long to wait before the first retry; every further one waits twice as long.
        public var firstDelay: Duration
        /// How long to wait at most. Where a server asks for more (`Retry-After`), the failure is told at once.
        public var maxDelay: Duration

        /// Makes a policy.
        public init(maxRetries: Int = 2, firstDelay: Duration = .milliseconds(500), maxDelay: Duration = .seconds(30)) {
            self.maxRetries = maxRetries
            self.firstDelay = firstDelay
            self.maxDelay = maxDelay
        }

        /// How long to wait before retry number `retry`, the first being 0; `nil` if there is to be none.
        ///
        /// What a server asks for is the least; without it the wait is between half and all of the backoff, so that clients which
        /// failed together do not come back together.
        func delay(before retry: Int, after error: ModelError, jitter: Double) -> Duration? {
            guard retry < maxRetries, error.isTransient else { return nil }
            if let asked = error.retryAfter { return asked <= maxDelay ? asked : nil }
            // Doubling further would only overflow.
            let backoff = min(maxDelay, firstDelay * (1 << min(retry, 20)))
            return backoff / 2 + backoff / 2 * jitter
        }
    }

    extension ModelError {
        /// Whether the same request may succeed a little later.
        fileprivate var isTransient: Bool {
            switch code {
            case .cannotConnect, .connectionLost, .rateLimited: true
            case .serverFailed: true
            default: status == 408
            }
        }
    }

    /// Reads the header `Retry-After`.
    enum RetryAfter {
        /// The wait that a value asks for, in seconds or until a date; `nil` where it is neither.
        static func duration(_ value: String, now: Date) -> Duration? {
            let text = value.trimmingCharacters(in: .whitespaces)
            if let seconds = Double(text) {
                // More than a century would overflow, and says the same.
                return seconds.isFinite && seconds >= 0 ? .seconds(min(seconds, 3_000_000_000)) : nil
            }
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(identifier: "GMT")
            formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
            return formatter.date(from: text).map { .seconds(max(0, $0.timeIntervalSince(now))) }
        }
    }
#endif
