import Foundation
import Lint
import ManagedModel
import Migration
import Testing

@testable import Interface
@testable import Rescue

@Suite("Advice as it is typed")
struct AdviceTests {
  private static let all: [Advice] =
    ErrorCatalogue.all.map(\.advice) + ErrorCatalogue.sentences.compactMap { $0.own?.advice }
    + FindingKind.allCases.map(\.advice) + LintRule.all.map(\.advice)

  @Test("every mark of a text has its command")
  func marks() {
    var unknown: Set<String> = []
    for advice in Self.all {
      _ = advice.text { choice, _ in
        if choice != .model, Advice.commands[choice.id] == nil { unknown.insert(choice.id) }
        return ""
      }
      #expect(!advice.typed.contains("{") && !advice.text.contains("strata "))
    }
    #expect(unknown == [])
    #expect(ErrorCatalogue.meaning(of: 134111)?.advice.typed.hasPrefix("strata plan STORE") == true)
  }

  @Test("every deed that the sources name has its command")
  func deeds() throws {
    let folder = Snapshot.package + "/Sources"
    let files = try #require(FileManager.default.enumerator(atPath: folder))
    var named: Set<String> = []
    for case let file as String in files where file.hasSuffix(".swift") {
      let text = try String(contentsOfFile: folder + "/" + file, encoding: .utf8)
      named.formUnion(text.matches(of: /\.deed\("([^"]+)"\)/).map { String($0.1) })
    }
    #expect(named.isSuperset(of: ["salvage", "diagnosis"]))
    #expect(named.filter { Advice.commands[$0] == nil } == [])
  }

  @Test("a command has the path that is known, as a shell takes it")
  func paths() {
    let path = ["'/tmp/a b.sqlite'"]
    let advice: Advice = "Look: \(.deed("salvage"), of: path)."
    #expect(advice.typed == "Look: strata salvage '/tmp/a b.sqlite' --output FILE.")
    #expect(advice.text == "Look: salvage '/tmp/a b.sqlite'.")
    let moved = advice.replacing(path[0], with: "b.sqlite")
    #expect(moved.typed == "Look: strata salvage b.sqlite --output FILE.")
    #expect(Advice(marked: "Add {model}, or {plan").typed == "Add --model MODEL, or {plan")
  }
}
