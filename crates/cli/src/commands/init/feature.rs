//! The feature that a workflow works on: made, taken up again, or simply there.

use std::path::Path;

use overtone_registry::{SpecsDocs, Workflow};
use overtone_store::clock;
use overtone_store::specs::{Feature, FeatureName, Shelf, Specs, SpecsError};

/// How the workflow and the feature came together.
#[derive(Debug)]
pub(super) enum Attached {
    /// None was named.
    Nothing,
    /// One was named, but the workflow keeps no documents.
    Ignored(String),
    Created(Feature),
    /// From the shelf it was on.
    TakenUp(Feature, Shelf),
    Joined(Feature),
}

impl Attached {
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Nothing | Self::Ignored(_) => None,
            Self::Created(feature) | Self::TakenUp(feature, _) | Self::Joined(feature) => Some(&feature.name),
        }
    }

    pub(super) const fn is_new(&self) -> bool {
        matches!(self, Self::Created(_))
    }
}

/// Refuses a name that no feature has and none can get.
pub(super) fn check(project: &Path, name: Option<&str>) -> Result<(), SpecsError> {
    let Some(name) = name else { return Ok(()) };
    match existing(&Specs::new(project), name)? {
        Some(_) => Ok(()),
        None => FeatureName::try_from(name).map(drop).map_err(SpecsError::Name),
    }
}

/// The feature of this name, unless it was put away.
pub(super) fn existing(specs: &Specs, name: &str) -> Result<Option<Feature>, SpecsError> {
    Ok(specs.find(name)?.filter(|feature| feature.shelf != Shelf::Archive))
}

pub(super) fn attach(project: &Path, workflow: Workflow, name: Option<&str>) -> Result<Attached, SpecsError> {
    let Some(name) = name else { return Ok(Attached::Nothing) };
    if workflow.specs_docs() == SpecsDocs::None {
        return Ok(Attached::Ignored(name.to_owned()));
    }
    let specs = Specs::new(project);
    match existing(&specs, name)? {
        Some(feature) if feature.shelf == Shelf::InProgress => Ok(Attached::Joined(feature)),
        Some(feature) => {
            specs.shift(name, Shelf::InProgress).map(|taken| Attached::TakenUp(taken, feature.shelf))
        }
        None => create(&specs, workflow, name).map(Attached::Created),
    }
}

fn create(specs: &Specs, workflow: Workflow, name: &str) -> Result<Feature, SpecsError> {
    let name = FeatureName::try_from(name)?;
    let now = clock::to_iso(clock::now());
    specs.create(&name, workflow.specs_docs(), Some(workflow), &now, Shelf::InProgress)
}
