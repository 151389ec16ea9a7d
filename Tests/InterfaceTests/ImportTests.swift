import Foundation
import Testing

/// A module that a target imports without naming it is there or not by the order in which a build
/// happens to go: on the machine that has built before it always is.
@Suite("What the targets import")
struct ImportTests {
  private struct Target {
    var name: String
    var folder: String
    var dependencies: Set<String>
  }

  private static func targets() throws -> [Target] {
    let manifest = try #require(Snapshot.read(Snapshot.package + "/Package.swift"))
    let declaration =
      /\.(t|testT|executableT)arget\(\s*name: "(\w+)"(.*?)(?=\n    (?:\.|\/\/)|\n  \],\n  swiftLanguageModes)/
      .dotMatchesNewlines()
    return manifest.matches(of: declaration).map { match in
      let rest = match.3
      let path = rest.firstMatch(of: /path: "([^"]+)"/).map { String($0.1) }
      let list = rest.firstMatch(of: /dependencies: \[([^\]]*)\]/)
      return Target(
        name: String(match.2),
        folder: path ?? (match.1 == "testT" ? "Tests/" : "Sources/") + match.2,
        dependencies: Set((list?.1 ?? "").matches(of: /"(\w+)"/).map { String($0.1) }))
    }
  }

  @Test("every module that a target imports is one of its dependencies, and the other way round")
  func imports() throws {
    let targets = try Self.targets()
    let names = Set(targets.map(\.name))
    #expect(names.isSuperset(of: ["JSON", "ManagedStore", "strata", "Benchmarks", "CommandTests"]))
    for target in targets where !target.dependencies.isEmpty {
      var imported: Set<String> = []
      let folder = Snapshot.package + "/" + target.folder
      let files = try #require(FileManager.default.enumerator(atPath: folder))
      for case let file as String in files where file.hasSuffix(".swift") {
        let text = try String(contentsOfFile: folder + "/" + file, encoding: .utf8)
        for line in text.matches(of: /(?m)^\s*(?:@\w+ |\w+ )*import (?:\w+ )?(\w+)$/) {
          imported.insert(String(line.1))
        }
      }
      let own = imported.intersection(names)
      let listed = target.dependencies.intersection(names)
      #expect(own.subtracting(listed) == [], "\(target.name) imports what it does not list")
      #expect(listed.subtracting(own) == [], "\(target.name) lists what it does not import")
    }
  }

  @Test("a module depends on no module of a later layer")
  func layers() throws {
    let order = ["Formats", "Stores", "Work", "Front"]
    var layers: [String: Int] = [:]
    let targets = try Self.targets().filter { $0.folder.hasPrefix("Sources/") }
    #expect(targets.count > 20)
    for target in targets {
      let folders = target.folder.split(separator: "/").map(String.init)
      let layer: Int = try #require(order.firstIndex(of: folders[1]), "\(target.name)")
      layers[target.name] = layer
    }
    for target in targets {
      let own = try #require(layers[target.name])
      let later = target.dependencies.filter { (layers[$0] ?? 0) > own }
      #expect(later.isEmpty, "\(target.name) depends on \(later.sorted())")
    }
  }
}
