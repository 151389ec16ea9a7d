import Files
import ManagedStore
import TestSupport
import Testing

@testable import Commands

@Suite("strata edit")
struct EditCommandTests {
  private let place: StoreFolder

  init() throws { place = try StoreFolder() }

  private func path(_ name: String) -> String { place.folder.path(name) }

  private struct Told: Decodable {
    struct Receipt: Decodable {
      var store: String
      var result: String?
      var backup: String?
      var changed: Int
      var deleted: Int
      var rollback: String?
    }
    var receipt: Receipt
  }

  /// An object as it is named.
  private func recipe(of store: String) throws -> String {
    let object = try ObjectCursor(Store(path: store), entity: "Recipe").next()
    return "Recipe/p\(try #require(object).key)"
  }

  private func receipt(_ run: Captured) throws -> Told.Receipt {
    let last = try #require(run.out.split(separator: "\n").last)
    return try Captured.decoded(Told.self, from: Array(last.utf8)).receipt
  }

  @Test("an object is changed, listed with old and new, and put back by a rollback")
  func object() throws {
    let store = try place.add("App.sqlite")
    let recipe = try recipe(of: store)
    let before = Captured("dump", store).out
    let dry = Captured("edit", store, recipe, "title=New title", "minutes=7", "--dry-run")
    #expect(dry.status == .done, "\(dry.err)")
    for words in ["~ \(recipe)", "→ “New title”", "minutes", "nothing was changed"] {
      #expect(dry.out.contains(words), "\(dry.out)")
    }
    #expect(Captured("dump", store).out == before)
    let json = Captured(
      "edit", store, recipe, "title=New title", "--json", "--receipt", path("receipt.json"))
    #expect(json.status == .done, "\(json.err)")
    let told = try receipt(json)
    #expect(told.changed == 1 && told.deleted == 0 && told.result == store)
    #expect(told.rollback?.hasPrefix("strata rollback") == true)
    #expect(json.out.contains(#""change":"update""#) && json.out.contains("New title"))
    #expect(FileSystem.isFile(try #require(told.backup)) && FileSystem.isFile(path("receipt.json")))
    let after = Captured("dump", store).out
    let lines = (before.split(separator: "\n"), after.split(separator: "\n"))
    #expect(zip(lines.0, lines.1).filter { $0 != $1 }.count == 1)
    #expect(Captured("rollback", store).status == .done)
    #expect(Captured("dump", store).out == before)
  }

  @Test("many objects are changed by an expression, and objects deleted with what hangs on them")
  func many() throws {
    let store = try place.add("App.sqlite")
    let recipe = try recipe(of: store)
    let count = try #require(try Store(path: store).counts()["Recipe"])
    let run = Captured(
      "edit", store, "Recipe", "--where", "TRUEPREDICATE", "--set", "title=upper(title)",
      "--set", "minutes=minutes + 1", "--json")
    #expect(try receipt(run).changed == count, "\(run.err)")
    let output = path("Less.sqlite")
    let deleted = Captured("edit", store, "--delete", recipe, "--output", output)
    #expect(deleted.status == .done && deleted.out.contains("− \(recipe)"), "\(deleted.err)")
    #expect(try Store(path: output).counts()["Recipe"] == count - 1)
    #expect(try Store(path: store).counts()["Recipe"] == count)
  }

  @Test("a broken rule is refused with the object, wrong words are wrong usage")
  func refusals() throws {
    let store = try place.add("App.sqlite")
    let recipe = try recipe(of: store)
    let before = try FileSystem.read(store)
    let broken = Captured("edit", store, recipe, "title=null")
    #expect(broken.status == .refused)
    for words in [recipe, "Recipe.title", "1570"] { #expect(broken.err.contains(words)) }
    #expect(Captured("edit", store).err.contains("nothing to change was given"))
    #expect(
      Captured("edit", store, recipe, "title").err.contains(
        "expected PROPERTY=VALUE, found “title”"))
    for words in [
      [], [recipe], [recipe, "titel=x"], [recipe, "title"], ["Recipe", "title=x"],
      ["Recipe", "--where", "minutes > 1"], ["Recipe", "--set", "title='x'"],
      ["Nobody", "--where", "TRUEPREDICATE", "--set", "a=1"], ["Recipe/p99999", "title=x"],
      ["Recipe", "--where", "TRUEPREDICATE", "--set", "title"],
      [recipe, "title=x", "--confirm"],
      [recipe, "title=x", "--dry-run", "--output", path("A.sqlite")],
    ] {
      let run = Captured(["edit", store] + words)
      #expect(run.status == .usage, "\(words): \(run.err)")
    }
    #expect(Captured("edit", store, recipe, "summary=@\(path("none"))").status == .unreadable)
    #expect(try FileSystem.read(store) == before)
  }

  @Test("undelete shows how an object that an edit deleted is brought back from the backup")
  func broughtBack() throws {
    let store = try place.add("App.sqlite")
    let recipe = try recipe(of: store)
    let counts = try Store(path: store).counts()
    let deleted = Captured("edit", store, "--delete", recipe)
    #expect(deleted.status == .done, "\(deleted.err)")
    #expect(try Store(path: store).counts() != counts)
    let summary = Captured("undelete", store)
    #expect(summary.flat.contains("that the store no longer has"), "\(summary.out)")
    let line = try #require(summary.lines.first { $0.contains("strata merge ") })
    let start = try #require(line.firstRange(of: "strata merge "))
    let back = path("Back.sqlite")
    let words = ("merge " + line[start.upperBound...]).split(separator: " ").map {
      $0 == "FILE" ? back : String($0)
    }
    let merged = Captured(words)
    #expect(merged.status == .done, "\(words): \(merged.out) \(merged.err)")
    #expect(try Store(path: back).counts() == counts)
  }
}
