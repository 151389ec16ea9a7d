/// A subject that `strata help` explains by an article of the documentation.
package struct Topic: Sendable {
  package let name: String
  /// What the article is about, as a clause.
  package let summary: String
  private let bytes: @Sendable () -> [UInt8]

  /// The article in DocC's markup.
  package var article: String { String(decoding: bytes(), as: UTF8.self) }

  /// The topics in the order in which help lists them; the files are links to the articles.
  package static let all = [
    Topic(name: "predicates", summary: "the filter language of --where and of the key /") {
      PackageResources.predicates_md
    },
    Topic(name: "formats", summary: "tables, CSV and JSON: how values and objects are written") {
      PackageResources.formats_md
    },
    Topic(name: "statuses", summary: "exit statuses, and whether to run a command again") {
      PackageResources.statuses_md
    },
    Topic(name: "fleets", summary: "many stores: GNU parallel, xargs, Slurm, Kubernetes") {
      PackageResources.fleets_md
    },
    Topic(name: "recipes", summary: "files that say what a migration does, with values as SQL") {
      PackageResources.recipes_md
    },
  ]

  package static func topic(named name: String) -> Topic? { all.first { $0.name == name } }
}
