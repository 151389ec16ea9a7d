import Texts

/// A subject that `strata help` explains by an article of the documentation.
package struct Topic: Sendable {
  /// The article's name in the program too.
  package let name: String
  /// What the article is about, as a clause.
  package let summary: String

  /// The article in DocC's markup.
  package var article: String { String(decoding: EmbeddedFile.bytes(name), as: UTF8.self) }

  /// The topics in the order in which help lists them.
  package static let all = [
    Topic(name: "predicates", summary: "the filter language of --where and of the key /"),
    Topic(name: "formats", summary: "tables, CSV and JSON: how values and objects are written"),
    Topic(name: "statuses", summary: "exit statuses, and whether to run a command again"),
    Topic(name: "fleets", summary: "many stores: GNU parallel, xargs, Slurm, Kubernetes"),
    Topic(name: "recipes", summary: "files that say what a migration does, with values as SQL"),
  ]

  package static func topic(named name: String) -> Topic? { all.first { $0.name == name } }
}
