import RecollectAgents
import Testing

@Suite("Agent IDs")
struct SlugTests {
    @Test(
        "An agent's ID is the slug of its name",
        arguments: [
            ("Tech Support", "tech-support"), ("Über Café", "über-café"), ("  Billing & Orders!  ", "billing-orders"),
            ("数学 老师", "数学-老师"), ("a-b c", "a-b-c"), ("", ""),
        ])
    func slug(name: String, slug: String) {
        #expect(name.slug == slug)
    }
}
