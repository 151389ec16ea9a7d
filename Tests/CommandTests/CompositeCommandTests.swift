import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Commands

@Suite("composite attributes in the commands")
struct CompositeCommandTests {
  private func store(_ folder: TemporaryFolder) throws -> String {
    let path = folder.path("Library.sqlite")
    try CompositeSamples.writeLibrary(to: path)
    return path
  }

  @Test("dump has a composite as an object of its elements, and null where none has a value")
  func dump() throws {
    let folder = try TemporaryFolder()
    let run = Captured(["dump", try store(folder)])
    #expect(run.status == .done)
    #expect(run.err.isEmpty)
    let color = #"{"linearBlue":0,"linearGreen":0,"linearRed":0,"opacity":1}"#
    let first = """
      {"attributes":{"author":{"born":0,"id":7,"person":"Ann","score":"1.5"},\
      "back":{"linearBlue":0.75,"linearGreen":0.5,"linearRed":0.25,"opacity":1},\
      "front":{"linearBlue":0,"linearGreen":0,"linearRed":1,"opacity":0.5},\
      "id":100,"kind":{"kind":"book"},"title":"Soup"},"entity":"Item","pk":1,\
      "relationships":{"shelf":"Shelf/p1"}}
      """
    #expect(run.lines.first.map(String.init) == first)
    #expect(run.lines[1].hasPrefix(#"{"attributes":{"author":null,"back":\#(color),"front":"#))
    #expect(run.lines[2].contains(#""editor":{"id":9,"isChief":true,"person":"Bea"}"#))
    #expect(run.lines[2].contains(#""author":{"born":null,"id":null,"person":"Zoë","score":null}"#))
  }

  @Test("rows as JSON nest elements; a part of a composite is never said to be null")
  func json() throws {
    let folder = try TemporaryFolder()
    let path = try store(folder)
    let whole = Captured(["rows", path, "Item", "--columns", "author", "--format", "ndjson"])
    #expect(whole.lines[0].hasPrefix(#"{"attributes":{"author":{"born":0,"#))
    #expect(whole.lines[1].hasPrefix(#"{"attributes":{"author":null}"#))
    let part = Captured(
      ["rows", path, "Item", "--columns", "author.person,title", "--format", "ndjson"])
    #expect(
      part.lines[1].hasPrefix(#"{"attributes":{"author":{"person":null},"title":"Bread"}"#))
  }

  @Test("a table and CSV have a column for each element")
  func table() throws {
    let folder = try TemporaryFolder()
    let path = try store(folder)
    let columns = ["--columns", "title,author.person,author.id,id"]
    #expect(
      Captured(["rows", path, "Item", "--sort", "author.person:desc"] + columns).out == """
        key  title   author.person  author.id   id
          3  Weekly  Zoë                    ∅  102
          1  Soup    Ann                    7  100
          2  Bread   ∅                      ∅  101

        """)
    #expect(
      Captured(
        ["rows", path, "Item", "--format", "csv", "--where", "author.id == 7"] + columns
      ).out == "entity,key,title,author.person,author.id,id\r\nItem,1,Soup,Ann,7,100\r\n")
  }

  @Test("a mistake in an element's name is told by name")
  func mistakes() throws {
    let folder = try TemporaryFolder()
    let path = try store(folder)
    for arguments in [
      ["--columns", "author.persn"], ["--sort", "author.persn"], ["--where", "author.persn == 1"],
    ] {
      let run = Captured(["rows", path, "Item"] + arguments)
      #expect(run.status != .done)
      #expect(run.err.contains("has no element “persn”"), "\(run.err)")
      #expect(run.err.contains("author.person"), "\(run.err)")
    }
  }

  @Test("an object shows its composites as trees")
  func object() throws {
    let folder = try TemporaryFolder()
    let path = try store(folder)
    let lines = Captured(["object", path, "Item/p1"]).lines
    let author = try #require(lines.firstIndex { $0.hasPrefix("  author ") })
    #expect(lines[author].contains("Composite"))
    #expect(lines[author + 3].hasPrefix("    person "))
    #expect(lines[author + 3].hasSuffix("Ann"))
    let second = Captured(["object", path, "Item/p2"]).lines
    #expect(second.contains { $0.hasPrefix("  author ") && $0.hasSuffix("∅") })
    #expect(!second.contains { $0.hasPrefix("    person ") })
    let json = Captured(["object", path, "Magazine/p3", "--json"]).out
    #expect(json.contains(#""editor":{"id":9,"isChief":true,"person":"Bea"}"#))
  }
}
