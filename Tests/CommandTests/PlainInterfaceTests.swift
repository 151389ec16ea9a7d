import Files
import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Commands
@testable import strata

@Suite("The interface as lines")
struct PlainInterfaceTests {
  @Test("the five screens are read one after the other, without frames or escape sequences")
  func screens() throws {
    let folder = try TemporaryFolder()
    let store = try DemoCommand.write(to: folder.path("demo"), objects: 60).store
    let plain = Captured("--plain", store)
    #expect(plain.status == .done)
    for line in [
      "Screen 1 of 5, Browse.", "No warnings.", "Screen 2 of 5, Diff.", "Screen 3 of 5, Mapping.",
      "Screen 4 of 5, Migrate.", "Screen 5 of 5, Rescue.", "✓ nothing is wrong (1 note)",
      "Commands that do what the screens do:",
    ] { #expect(plain.out.contains(line + "\n"), "\(line)") }
    #expect(plain.out.contains(", a kind of Ingredient."))
    #expect(!plain.out.contains("\u{1B}") && !plain.out.contains("│"))
  }

  @Test("--to, --via and --mapping lead the plan and the command lines")
  func way() throws {
    let folder = try TemporaryFolder()
    let demo = try DemoCommand.write(to: folder.path("demo"), objects: 60)
    let recipe = folder.path("recipe.json5")
    try FileSystem.write(
      Array("{ \"from\": \"Recipes\", \"to\": \"Recipes 2\" }".utf8), to: recipe)
    let plain = Captured(
      "--plain", demo.store, "--to", demo.model + "@Recipes 2", "--mapping", recipe)
    #expect(plain.status == .done, "\(plain.err)")
    #expect(plain.out.contains("Recipes → Recipes 2 recipe"), "\(plain.out)")
    #expect(
      plain.out.contains("--to '\(demo.model)@Recipes 2' --mapping \(recipe)\n"), "\(plain.out)")
    #expect(Captured("--plain", demo.store, "--to", "/nonexistent").status != .done)
  }

  @Test("--model that did not make the store is said; a bundle that has the version is not")
  func misfit() throws {
    let folder = try TemporaryFolder()
    let demo = try DemoCommand.write(to: folder.path("demo"), objects: 60)
    let sentence =
      "are not those of the store (134100). The rows are shown with the model in the store."
    let other = Captured("--plain", demo.store, "--model", demo.model + "@Recipes 3")
    #expect(other.status == .done, "\(other.err)")
    #expect(other.out.contains(sentence), "\(other.out)")
    let missing = Captured("--plain", demo.store, "--model", folder.path("none.mom"))
    #expect(missing.out.contains("Warning: --model "), "\(missing.out)")
    for model in [demo.model, demo.model + "@Recipes"] {
      #expect(Captured("--plain", demo.store, "--model", model).out.contains("No warnings."))
    }
  }

  @Test("of a store that does not open, doctor tells why")
  func unopened() throws {
    let folder = try TemporaryFolder()
    let store = folder.path("noise.sqlite")
    var seed: UInt64 = 1
    let noise = (0..<100_000).map { _ in
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: seed >> 56)
    }
    try FileSystem.write(noise, to: store)
    let plain = Captured("--plain", store)
    #expect(plain.status == .unreadable, "\(plain.out)")
    #expect(plain.out.contains("Screen 5 of 5, Rescue.\n✗ "), "\(plain.out)")
    #expect(!plain.out.contains("Browse"))
  }

  @Test("models are compared without a store, on a terminal")
  func models() throws {
    let folder = try TemporaryFolder()
    let demo = try DemoCommand.write(to: folder.path("demo"), objects: 60)
    var request = Runtime.Request()
    request.path = demo.store
    #expect(request.models.isEmpty)
    request.other = demo.model + "@Recipes 2"
    #expect(request.models == [demo.store, demo.model + "@Recipes 2"])
    let versions = try StoreSource(path: "", model: nil, models: request.models).comparedVersions()
    #expect(versions.filter(\.isWanted).map(\.path) == request.models)
    #expect(versions.count == 2)
    request = Runtime.Request(path: demo.model)
    let current = try StoreSource(path: "", model: nil, models: request.models).comparedVersions()
    #expect(current.filter(\.isWanted).count == 1)
    for words in [[demo.model], [demo.model, demo.model + "@Recipes 2"], ["--plain", demo.model]] {
      let told = Captured(words)
      #expect(
        told.status == .usage && told.err.contains("Use a command such as: strata "), "\(words)")
    }
    let stores = Captured(demo.store, demo.store)
    #expect(stores.status == .usage && stores.err.contains("strata compare "))
  }

  @Test("what is wrong with the store is told as ever")
  func wrong() {
    #expect(Captured("--plain", "/nonexistent/a.sqlite").status == .unreadable)
    #expect(Captured("--plain").status == .usage)
  }

  @Test(
    "words are split as a shell does",
    arguments: [
      (
        "rows Recipe --where 'title == \"a b\"'", ["rows", "Recipe", "--where", "title == \"a b\""]
      ),
      ("  info ", ["info"]), ("", []), ("a ''", ["a", ""]), ("a 'b", ["a", "b"]),
      // As commands are printed to be pasted, and a predicate with a regular expression.
      ("rows \(ShellText.quoted("it's"))", ["rows", "it's"]),
      ("\"a\\d \\\"b\\\"\" c\\ d", ["a\\d \"b\"", "c d"]),
    ])
  func words(line: String, words: [String]) {
    #expect(ShellText.words(line) == words)
  }
}
