import RecollectWorkspace
import Testing

@Suite("A workspace")
struct PlaceholderTests {}
