import Files
import ModelSearch

/// What shipped, as far as a revision or an older copy shows.
struct LintBase {
  /// What it is called: the revision, or the path of the copy.
  let name: String
  /// How it was come by, as a clause for a person.
  let origin: String
  /// What there is to know about how it was come by, as sentences; `nil` where there is nothing.
  private(set) var note: String?
  private var models: [LintedModel]

  /// The state at a revision of the repository that a target is in.
  init(
    of target: LintTarget, revision: String, name: String? = nil, origin: String? = nil
  ) throws {
    let name = name ?? String(revision.prefix(revision.isHexadecimal ? 12 : revision.count))
    self.name = name
    self.origin = origin ?? "the revision \(name)"
    models = try LintTarget.models(at: target.path, revision: revision)
    guard models.isEmpty || target.models.count > models.count else { return }
    // What moved since is found by its name.
    guard let top = GitRevision.repository(around: target.path) else { return }
    let known = Set(models.map(\.path))
    let names = Set(target.models.map { FileSystem.name(of: $0.path) })
    for inner in try GitRevision(revision, of: top).modelPaths()
    where names.contains(FileSystem.name(of: inner)) && !known.contains(top + "/" + inner) {
      let path = top + "/" + inner
      if FileSystem.status(path) != nil { continue }
      models += try LintTarget.models(at: path, revision: revision)
    }
  }

  /// An older copy.
  init(copy path: String) throws {
    let target = try LintTarget(path)
    (name, origin) = (path, "the copy \(path)")
    models = target.models
  }

  /// Models that were read.
  init(name: String, models: [LintedModel]) {
    (self.name, origin, self.models) = (name, name, models)
  }

  /// What shipped as far as the repository shows that the target is in: the commit that HEAD has in
  /// common with the main branch, or, where that is HEAD itself, the newest tag before it.
  ///
  /// - Returns: `nil` where it is in none, or none has a main branch.
  static func found(for target: LintTarget) throws -> LintBase? {
    guard let base = GitRevision.mergeBase(around: target.path) else { return nil }
    guard base.isHead else {
      return try LintBase(
        of: target, revision: base.commit,
        origin: "\(base.commit.prefix(12)), the merge base of HEAD and \(base.branch)")
    }
    if let tag = GitRevision.newestTag(before: base.commit, around: target.path) {
      return try LintBase(
        of: target, revision: tag.commit, name: tag.name,
        origin: "the tag \(tag.name), the newest before HEAD, which \(base.branch) contains")
    }
    var own = try LintBase(
      of: target, revision: base.commit, name: "HEAD",
      origin: "HEAD, which \(base.branch) contains")
    own.note =
      "HEAD was compared with itself: \(base.branch) contains this commit, and there is no earlier tag. Name what shipped: --git-base REF"
    return own
  }

  /// What a model was, and whether it was there: one that is new has shipped nothing.
  mutating func take(for now: LintedModel, of target: LintTarget) -> LintedModel {
    func found(_ test: (LintedModel) -> Bool) -> Int? { models.firstIndex(where: test) }
    let kind = { (model: LintedModel) in model.form == .source }
    let (own, file) = (now.path.withoutSlash, FileSystem.name(of: now.path))
    let alike = models.filter { kind($0) == kind(now) }
    let isOnly = target.models.count { kind($0) == kind(now) } == 1 && alike.count == 1
    let index =
      found { $0.path == own } ?? found { kind($0) == kind(now) && relative($0) == relative(now) }
      ?? found { kind($0) == kind(now) && FileSystem.name(of: $0.path) == file }
      ?? (isOnly ? found { kind($0) == kind(now) } : nil)
    func relative(_ model: LintedModel) -> String {
      for root in [target.path, name] where model.path.hasPrefix(root + "/") {
        return String(model.path.dropFirst(root.count + 1))
      }
      return model.path
    }
    guard let index else {
      return LintedModel(path: now.path, form: now.form, versions: [], currentName: nil)
    }
    return models.remove(at: index)
  }

  /// What is there no more.
  var rest: [LintedModel] { models }
}

extension String {
  fileprivate var isHexadecimal: Bool { count == 40 && allSatisfy(\.isHexDigit) }
}
