import ManagedModel
import SwiftModels

/// What a model's own user info and source's comments say of rules.
struct Silences {
  /// The key in user info, whose value names rules.
  static let userInfoKey = "strata.lint"
  /// How far below a comment the declaration may begin that it is for.
  private static let reach = 3

  /// What is silenced, and where.
  private struct Silence {
    var rule: String
    var version: String?
    var entity: String?
    var property: String?
    var place: LintFinding.Silence.Place
  }

  /// What silences are looked up by: a rule, and an entity where one is named.
  private struct Key: Hashable {
    var rule: String
    var entity: String?
  }

  private var silences: [Silence] = []
  /// The places of silences, in order.
  private var places: [Key: [Int]] = [:]
  /// Rules that are named and do not exist, as sentences.
  private(set) var mistakes: [String] = []

  /// - Parameter models: those of now; what a version before says counts for what it alone has.
  init(_ models: [LintedModel]) {
    for model in models {
      for version in model.versions { read(version) }
      let declarations = model.comments.isEmpty ? [:] : Self.declarations(of: model)
      for comment in model.comments { read(comment, declarations) }
    }
  }

  private mutating func read(_ version: LintedModel.Version) {
    for entity in version.model.entities {
      add(entity.userInfo, entity.name, nil, version)
      for attribute in entity.attributes {
        add(attribute.userInfo, entity.name, attribute.name, version)
      }
      for relationship in entity.relationships {
        add(relationship.userInfo, entity.name, relationship.name, version)
      }
    }
  }

  private mutating func add(
    _ userInfo: [String: String], _ entity: String, _ property: String?,
    _ version: LintedModel.Version
  ) {
    guard let text = userInfo[Self.userInfoKey] else { return }
    let place = version.place(of: entity, property)
    for rule in rules(text, SourcePlace(path: place.path, line: place.line ?? 1)) {
      add(
        Silence(
          rule: rule, version: nil, entity: entity, property: property, place: .userInfo))
    }
  }

  /// `disable ID, ID` above a property, a class or a version, or on its line.
  private mutating func read(
    _ comment: SourceRemark, _ declarations: [String: [Int: Target]]
  ) {
    let words = comment.message.split(separator: " ", maxSplits: 1).map(String.init)
    guard words.first == "disable" else {
      mistakes.append(
        "\(comment.place): “strata:\(comment.message)” is not understood; write strata:disable RULE."
          .printable)
      return
    }
    let named = rules(words.count > 1 ? words[1] : "", comment.place)
    if words.count < 2 { mistakes.append("\(comment.place): strata:disable names no rule.") }
    guard !named.isEmpty else { return }
    // The nearest declaration on the line or below it.
    let lines = declarations[comment.place.path]
    let reach = comment.place.line...comment.place.line + Self.reach
    guard let target = reach.lazy.compactMap({ lines?[$0] }).first else {
      mistakes.append(
        "\(comment.place): strata:disable precedes no property, class or version.")
      return
    }
    for rule in named {
      add(
        Silence(
          rule: rule, version: target.version, entity: target.entity, property: target.property,
          place: .comment))
    }
  }

  private mutating func add(_ silence: Silence) {
    places[Key(rule: silence.rule, entity: silence.entity), default: []].append(silences.count)
    silences.append(silence)
  }

  private mutating func rules(_ text: String, _ place: SourcePlace) -> [String] {
    let names = text.split { $0 == "," || $0.isWhitespace }.map(String.init)
    return names.filter { name in
      guard LintRule.named(name) == nil else { return true }
      let hint = LintRule.unknown(name).hint ?? ""
      mistakes.append("\(place): there is no rule “\(name)”. \(hint)".printable)
      return false
    }
  }

  /// What a comment is for.
  private typealias Target = (version: String?, entity: String?, property: String?)

  /// The declarations of a model's source by file and line. Of two on one line the outer comes first: a
  /// whole class in a line.
  private static func declarations(of model: LintedModel) -> [String: [Int: Target]] {
    var found: [String: [Int: Target]] = [:]
    func offer(_ path: String, _ line: Int, _ target: Target) {
      if found[path]?[line] == nil { found[path, default: [:]][line] = target }
    }
    for version in model.versions {
      guard let source = version.source else { continue }
      if let own = source.place { offer(own.path, own.line, (version.name, nil, nil)) }
      for type in source.classes {
        // A class outside of the versions is of all that list it.
        let name = type.isInside && source.place != nil ? version.name : nil
        offer(type.place.path, type.place.line, (name, type.entity, nil))
        for (property, line) in type.lines.sorted(by: { $0.key < $1.key }) {
          offer(type.place.path, line, (name, type.entity, property))
        }
      }
    }
    return found
  }

  /// Why a finding does not count.
  func silence(of finding: LintFinding) -> LintFinding.Silence? {
    let rule = finding.rule.id
    let keys = Set([Key(rule: rule, entity: nil), Key(rule: rule, entity: finding.entity)])
    let own = keys.compactMap { key in
      places[key]?.first { place in
        let silence = silences[place]
        return (silence.version == nil || silence.version == finding.version)
          && (silence.property == nil || finding.properties.contains(silence.property ?? ""))
      }
    }
    return own.min().map { LintFinding.Silence(place: silences[$0].place, reason: nil) }
  }
}

extension LintFinding {
  /// The names that its property uses: of a constraint all.
  fileprivate var properties: [String] {
    (property?.split(separator: ",").map(String.init) ?? []) + [former].compactMap { $0 }
  }
}
