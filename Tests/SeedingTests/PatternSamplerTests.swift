import ManagedModel
import Testing

@testable import ExampleValues
@testable import Seeding

@Suite("Texts of a regular expression")
struct PatternSamplerTests {
  @Test(
    "are taken by it, by chance and by number",
    arguments: [
      "[a-z]+@[a-z]+\\.(com|org)", "^\\d{3}-\\d{4}$", "(?i)abc", "[^x]{3}", ".*", "a?b+c*",
      "\\p{Lu}\\p{Nd}",
      "[Α-Ω]{2}", "\\Qa.b\\E", "((a|b){2,3}|z)", "\\w+\\s\\w+", "",
    ])
  func samples(pattern: String) throws {
    let sampler = try PatternSampler(matching: pattern)
    var random = SeededGenerator(seed: 5)
    for _ in 0..<50 {
      let text = try #require(sampler.text(using: &random))
      #expect(sampler.matches(text))
    }
    for number in 0..<min(50, sampler.count) {
      #expect(sampler.text(numbered: number) != nil)
    }
  }

  @Test(
    "differ by their numbers", arguments: [("[A-C][0-9]", 30), ("(ab|cd){1,2}", 6), ("x{0,3}", 4)])
  func numbered(pattern: String, count: UInt64) throws {
    let sampler = try PatternSampler(matching: pattern)
    #expect(sampler.count == count)
    #expect(Set((0..<count).compactMap { sampler.text(numbered: $0) }).count == Int(count))
  }
}
