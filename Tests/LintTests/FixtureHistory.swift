import Files
import ManagedModel
import ModelSearch
import TestSupport

@testable import Lint

/// The versions of a model of others, looked at as they came: each against those before it.
struct FixtureHistory: CustomStringConvertible {
  let path: String

  var description: String { path }

  static let all: [FixtureHistory] = {
    let folders =
      Fixtures.paths(endingWith: "/contents").map { $0.folder(ending: ".xcdatamodeld") }
      + Fixtures.paths(endingWith: ".mom").map { $0.folder(ending: ".momd") }
    let bundles = Set(folders.compactMap { $0 }).sorted().map { FixtureHistory(path: $0) }
    return bundles + [FixtureHistory(path: "cartkit/swiftdata-v1")]
  }()

  func runs() throws -> [LintRun] {
    guard !path.hasPrefix("cartkit/swiftdata") else { return try sourceRuns() }
    let whole = Fixtures.path(path)
    let target = try LintTarget(whole)
    let versions = target.models[0].versions
    var runs = [try run(whole, against: nil)]
    for end in versions.indices {
      var now = target.models[0]
      now.versions = Array(versions[...end])
      now.currentName = versions[end].name
      var base = now
      base.versions = Array(versions[..<end])
      base.currentName = base.versions.last?.name
      runs.append(
        try LintRun(
          LintTarget(path: whole, models: [now], mappings: target.mappings),
          base: LintBase(name: "the version before", models: [base])))
    }
    return runs
  }

  /// The source of three versions, each against the one before.
  private func sourceRuns() throws -> [LintRun] {
    let paths = (1...3).map { Fixtures.path("cartkit/swiftdata-v\($0)") }
    return try [run(paths[0], against: nil)]
      + zip(paths, paths.dropFirst()).map { try run($1, against: $0) }
  }

  private func run(_ path: String, against: String?) throws -> LintRun {
    var options = LintOptions()
    options.takesMergeBase = false
    options.against = against
    return try LintRun(of: path, options)
  }
}

extension String {
  /// The path up to the folder of that kind.
  fileprivate func folder(ending suffix: String) -> String? {
    let parts = split(separator: "/").map(String.init)
    return parts.firstIndex { $0.hasSuffix(suffix) }.map { parts[...$0].joined(separator: "/") }
  }
}
