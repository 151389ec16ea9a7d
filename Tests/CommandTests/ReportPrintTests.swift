import Interface
import Reports
import Testing

@testable import Commands

@Suite("A report as a command prints it")
struct ReportPrintTests {
  private static let report = Report([
    .init([.init(.success, "migrated “A” → “B”"), .init("the way back: x\u{1B}[2J", as: .code)]),
    .init("objects", columns: ["before", "after"], [.init("Recipe", numbers: ["12", "3"])]),
  ])

  private static func printed(aloud: Bool) -> String {
    var bytes: [UInt8] = []
    let console = Console(out: { bytes += $0 }, err: { _ in })
    console.readsAloud = aloud
    console.report(report)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test("it is what a file of the interface holds, and steers no terminal")
  func text() {
    let text = Self.printed(aloud: false)
    #expect(text.split(separator: "\n").count == 4 && !text.unicodeScalars.contains("\u{1B}"))
    let lines = ReportText.text(Self.report).split(separator: "\n")
    #expect(text.split(separator: "\n").first == lines.first)
    #expect(text.split(separator: "\n").suffix(2) == lines.suffix(2))
  }

  @Test("read aloud it has no table")
  func aloud() {
    let lines = Self.printed(aloud: true).split(separator: "\n")
    #expect(lines.first == "✓ migrated “A” → “B”")
    #expect(lines.suffix(2) == ["objects:", "Recipe: before 12, after 3"])
  }
}
