#include "CTexts.h"

#include <string.h>

// An extension before C23, which the compilers of Swift 6.2 and later have.
#pragma clang diagnostic ignored "-Wc23-extensions"

#define EMBEDDED(name) {#name, name, sizeof(name)}

static const unsigned char errors[] = {
#embed "../Texts/Tables/errors.md"
};
static const unsigned char findings[] = {
#embed "../Texts/Tables/findings.md"
};
static const unsigned char sentences[] = {
#embed "../Texts/Tables/sentences.md"
};
static const unsigned char rules[] = {
#embed "../Lint/Lint.docc/LintRules.md"
};
static const unsigned char formats[] = {
#embed "../../Front/strata/strata.docc/Formats.md"
};
static const unsigned char predicates[] = {
#embed "../../Front/strata/strata.docc/Predicates.md"
};
static const unsigned char statuses[] = {
#embed "../../Front/strata/strata.docc/Statuses.md"
};
static const unsigned char fleets[] = {
#embed "../../Front/strata/strata.docc/Fleets.md"
};
static const unsigned char recipes[] = {
#embed "../Migration/Migration.docc/Recipes.md"
};
static const unsigned char contrast[] = {
#embed "../../../Themes/contrast.json"
};
static const unsigned char ember[] = {
#embed "../../../Themes/ember.json"
};
static const unsigned char fjord[] = {
#embed "../../../Themes/fjord.json"
};
static const unsigned char midnight[] = {
#embed "../../../Themes/midnight.json"
};
static const unsigned char mono[] = {
#embed "../../../Themes/mono.json"
};
static const unsigned char paper[] = {
#embed "../../../Themes/paper.json"
};

static const struct embedded_file files[] = {
    EMBEDDED(errors),   EMBEDDED(findings),   EMBEDDED(sentences), EMBEDDED(rules),
    EMBEDDED(formats),  EMBEDDED(predicates), EMBEDDED(statuses),  EMBEDDED(fleets),
    EMBEDDED(recipes),
    EMBEDDED(contrast), EMBEDDED(ember),      EMBEDDED(fjord),     EMBEDDED(midnight),
    EMBEDDED(mono),     EMBEDDED(paper),
};

struct embedded_file embedded_file(const char *name) {
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    if (strcmp(files[i].name, name) == 0) return files[i];
  }
  return (struct embedded_file){name, NULL, 0};
}
