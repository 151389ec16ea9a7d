import Interface
import ManagedModel
import Migration
import Reports
import Testing

@testable import Commands

@Suite("What is shown before the answer is there")
struct WaitingTests {
  private static func step(rows: [String: Int]) throws -> MigrationStep {
    var (old, new) = (Entity("Note"), Entity("Note"))
    old.attributes = [Attribute("text", .string)]
    new.attributes = [Attribute("text", .string), Attribute("rating", .string)]
    let from = try Model(entities: [old, Entity("Tag")])
    let to = try Model(entities: [new, Entity("Tag")])
    return MigrationStep(
      from: "Notes", to: "Notes 2", source: from, destination: to,
      mapping: try MappingInference.mapping(from: from, to: to), rows: rows)
  }

  private static func lines(
    rows: [String: Int], isDraft: Bool, width: Int = 80
  ) throws -> [String] {
    let step = try step(rows: rows)
    return Console(
      isTerminal: true, width: 120, errorWidth: { width }, out: { _ in }, err: { _ in }
    )
    .lines { $0.report(Report([step], isDraft: isDraft)) }
  }

  @Test("of an entity that is not counted yet, that is said; of a plan, that it has none")
  func counting() throws {
    let names = try Self.step(rows: [:]).mapping.entityMappings.map(\.name)
    let tag = try #require(names.first { $0.contains("Tag") })
    let draft = try Self.lines(rows: [tag: 7], isDraft: true)
    #expect(draft.first == "Notes → Notes 2  inferred")
    #expect(draft.contains { $0.contains("Note  →  Note  counting …") }, "\(draft)")
    #expect(draft.contains { $0.contains("Tag   →  Tag") && $0.hasSuffix(" 7") }, "\(draft)")
    let done = try Self.lines(rows: [tag: 7], isDraft: false)
    #expect(!done.contains { $0.contains("counting") })
    #expect(done.contains { $0.contains("Note  →  Note  0") }, "\(done)")
  }

  @Test("a plan's steps read aloud have a sentence for each entity, and no columns")
  func spoken() throws {
    let names = try Self.step(rows: [:]).mapping.entityMappings.map(\.name)
    let counts = Dictionary(uniqueKeysWithValues: names.map { ($0, $0.contains("Tag") ? 7 : 3) })
    let lines = ReportText.spoken(Report([try Self.step(rows: counts)])).map(\.text)
    #expect(lines.count == 3 && lines.first == "Notes → Notes 2 inferred:", "\(lines)")
    #expect(lines.contains { $0.hasSuffix("Note → Note 3 + rating") }, "\(lines)")
    #expect(lines.contains { $0.hasSuffix("Tag → Tag 7") }, "\(lines)")
    #expect(lines.allSatisfy { !$0.hasPrefix(" ") && !$0.contains("  ") }, "\(lines)")
  }

  @Test("no line is wider than the terminal, which would break it")
  func narrow() throws {
    let lines = try Self.lines(rows: [:], isDraft: true, width: 20)
    #expect(lines.allSatisfy { $0.count <= 19 }, "\(lines)")
    #expect(lines.contains { $0.hasSuffix("…") })
  }

  @Test("lines are written over the former ones, and are gone in the end")
  func rewriting() {
    #expect(Console.rewriting(["a"], over: 0) == "\r\u{1B}[Ja")
    #expect(Console.rewriting(["a", "b"], over: 1) == "\r\u{1B}[Ja\nb")
    #expect(Console.rewriting([], over: 3) == "\r\u{1B}[2A\u{1B}[J")
  }

  @Test("a terminal's last line is kept free of what does not fit above it")
  func height() {
    var state = Waiting.Foot.State()
    state.draft = (1...5).map(String.init)
    #expect(state.lines(of: 10).isEmpty)
    state.isDue = true
    #expect(state.lines(of: 10) == ["1", "2", "3", "4", "5"])
    state.text = "looking …"
    #expect(state.lines(of: 5) == ["1", "2", "…", "looking …"])
    #expect(state.lines(of: 1) == ["looking …"])
    state.isOver = true
    #expect(state.lines(of: 10).isEmpty)
  }
}
