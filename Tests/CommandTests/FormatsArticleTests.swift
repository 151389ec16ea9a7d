import Testing

@testable import Commands
@testable import strata

@Suite("The article on formats")
struct FormatsArticleTests {
  @Test("every command that prints JSON has an example that begins with it")
  func complete() throws {
    let shown = Set(
      try FormatsArticle.blocks().compactMap { block -> String? in
        guard let line = block.last(where: { $0.hasPrefix("$ strata ") }) else { return nil }
        let isJSON = ["--json", "--format json", "--format ndjson"].contains { line.contains($0) }
        let name = line.dropFirst("$ strata ".count).prefix { $0 != " " }
        return isJSON || name == DumpCommand.command.name ? String(name) : nil
      })
    let printing = CommandTable.commands.filter { $0.options.contains { $0.name == "json" } }
    #expect(printing.count > 30)
    for command in printing { #expect(shown.contains(command.name), "\(command.name)") }
  }
}
