extension ToolInputData? {
    /// Whether the parameters have the same bytes as other ones, or both are missing.
    package func hasSameBytes(as other: ToolInputData?) -> Bool {
        guard let left = self, let right = other else { return self == nil && other == nil }
        return left.parameters.hasSameBytes(as: right.parameters)
            && left.rawParameters.hasSameBytes(as: right.rawParameters)
    }
}
