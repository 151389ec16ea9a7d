import AtomicStores
import Comparison
import ExportText
import ManagedModel
import ManagedStore

/// `strata compare`: what differs between two stores, object by object.
package enum CompareCommand {
  private static let (first, second) = (Argument("STORE_A", .store), Argument("STORE_B", .store))
  private static let entities = Argument(list: "ENTITY", .entity)
  private static let base = Option(
    "base", "STORE", .store,
    "the common copy of A and B: objects inserted after it are not paired by key")
  private static let match = Option(
    repeating: "match", "key|unique|[ENTITY=]NAME,NAME", .text,
    "pair objects by key, by what the model says is unique, or by these attributes")
  private static let ignored = Option(
    repeating: "ignore", "ENTITY[.PROPERTY]|bookkeeping", .text, "leave this out")
  private static let predicate = Option.predicate.help(
    "only objects that match this NSPredicate text in A or in B; needs an ENTITY")
  private static let limit = Option<Int?>(
    number: "limit", takesAll: true,
    "objects printed for each entity, or all (default 100 on a terminal, else all)")
  private static let wholeValues = Option(
    "whole-values", "print long texts whole, and in JSON the bytes of binary values in Base64")
  package static let command = Command(
    "compare", .compare, "compares the objects of two stores",
    arguments: [first, second, entities],
    options: [
      base, match, ignored, predicate, limit, wholeValues, Option.rowFormat, Option.jsonFormat,
      Option.model,
    ],
    details: """
      Objects are paired by key if both stores have one UUID. Otherwise they are paired by a uniqueness
      constraint, or by an identifying attribute: a UUID or String named id, uuid, identifier or …ID whose
      values are unique. --match overrides this. Two versions of a model are paired as lightweight
      migration maps them.

      Two copies of one store that were both used give the same new keys to different objects. After the last
      object that is equal in both, a pair is reported as a deletion and an insertion if none of its values are
      equal (NULL and Booleans do not count) or its identifying attribute differs. The report then says that
      the entity may have grown apart. --base removes this doubt.

      Bookkeeping (saves, Z_MAX, indexes, metadata, history, CloudKit) is listed at the end. It does not change
      the status.
      """,
    example:
      "strata compare Yesterday.sqlite Recipes.sqlite Recipe --where 'title CONTAINS \"soup\"'",
    statuses:
      "1 if objects differ, 4 if something of A or B could not be read, 130 if it was cancelled",
    run: Interruption.watched(run))

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let request = try request(arguments, console)
    let model = arguments[.model]
    let (a, b) = try (
      StoreOpening.open(arguments[first], model: model),
      StoreOpening.open(arguments[second], model: model)
    )
    let base = try arguments[base].map { try StoreOpening.open($0, model: model) }
    let comparison = try Waiting.tell("comparing objects", on: console) {
      try StoreComparison(a, b, request, base: base, isCancelled: { Interruption.isRequested })
    }
    var writer = ChangeWriter(
      arguments[.json] ? .json : arguments[.rowFormat] ?? .table, console,
      isWhole: arguments[wholeValues])
    try writer.begin(comparison, arguments[first], arguments[second])
    var summary = try comparison.run { try writer.write($0) }
    // An XML or binary store is one file; the external files are those of its private copy.
    for (index, store) in [a, b].enumerated()
    where summary.files.indices.contains(index) && AtomicCopy.origin(ofCopyAt: store.path) != nil {
      summary.files[index] = ExternalDataReport()
    }
    var status: CommandStatus = summary.isEqual ? .done : .no
    if summary.unreadableValues > 0 {
      let count = NumberText.counted(summary.unreadableValues, "value")
      console.note("! External files of \(count) cannot be read: whether they differ is unknown.")
      status = .unreadable
    }
    if summary.mixesStates {
      console.note(
        "! Another program kept saving \(arguments[first]) while it was read: the output may mix two states. Close that program, and run the command again."
      )
      status = .unreadable
    }
    let unknown = summary.entities.reduce(0) { $0 + $1.unknown }
    if unknown > 0 {
      console.note(
        "! Whether \(NumberText.counted(unknown, "object")) \(unknown == 1 ? "differs" : "differ") is unknown: the rows of the other store could not be read."
      )
      status = .unreadable
    }
    status = console.finish(b, console.finish(a, status))
    try writer.end(summary, status, limit: request.limit)
    return status
  }

  private static func request(
    _ arguments: Arguments, _ console: Console
  ) throws -> ComparisonRequest {
    var request = ComparisonRequest()
    request.entities = arguments[entities]
    request.matches = try arguments[match].map(Self.match)
    let names = Set(arguments[ignored])
    request.ignoresBookkeeping = names.contains("bookkeeping")
    request.ignored = names.subtracting(["bookkeeping"])
    request.predicate = arguments[predicate]
    request.limit = arguments[limit] ?? (console.isTerminal ? 100 : .max)
    if request.predicate != nil, request.entities.isEmpty {
      throw CoreDataError(
        .usage, "--where needs an entity", hint: "Name it after the stores: A B ENTITY --where …")
    }
    return request
  }

  /// What a word of `--match` says.
  package static func match(_ word: String) throws -> ComparisonRequest.Match {
    if word == "key" { return .key }
    if word == "unique" { return .unique }
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      .map(String.init)
    let names = (parts.last ?? "").split(separator: ",").map(String.init)
    guard !names.isEmpty, parts.count == 1 || parts.first?.isEmpty == false else {
      throw CoreDataError(
        .usage, "--match takes key, unique or [ENTITY=]NAME,NAME, not “\(word)”")
    }
    return .attributes(entity: parts.count == 2 ? parts.first : nil, names: names)
  }
}
