//! The feature that a workflow works on: created, resumed, or already in progress.

use std::path::Path;

use overtone_core::registry::{SpecsDocs, Workflow};
use overtone_store::clock;
use overtone_store::specs::{Feature, FeatureName, Shelf, Specs, SpecsError};

/// How the workflow got its feature.
#[derive(Debug)]
pub(super) enum AttachedFeature {
    /// No feature was given.
    Nothing,
    /// A feature was given, but the workflow keeps no documents.
    Ignored(String),
    Created(Feature),
    /// With the shelf it was on.
    Resumed(Feature, Shelf),
    Joined(Feature),
}

impl AttachedFeature {
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Nothing | Self::Ignored(_) => None,
            Self::Created(feature) | Self::Resumed(feature, _) | Self::Joined(feature) => Some(&feature.name),
        }
    }

    /// How many of its tasks are ticked, without those that stand for stages.
    pub(super) fn tasks_ticked(&self) -> Option<u32> {
        let (Self::Created(feature) | Self::Resumed(feature, _) | Self::Joined(feature)) = self else {
            return None;
        };
        match &feature.tasks {
            Some(tasks) => u32::try_from(tasks.checked_work).ok(),
            None => Some(0),
        }
    }

    pub(super) const fn is_new(&self) -> bool {
        matches!(self, Self::Created(_))
    }
}

/// Returns an error for a name that no feature has and that is not valid for a new one.
pub(super) fn check(project: &Path, name: Option<&str>) -> Result<(), SpecsError> {
    let Some(name) = name else { return Ok(()) };
    match existing(&Specs::new(project), name)? {
        Some(_) => Ok(()),
        None => FeatureName::try_from(name).map(drop).map_err(SpecsError::Name),
    }
}

/// The feature of this name, unless it is archived.
pub(super) fn existing(specs: &Specs, name: &str) -> Result<Option<Feature>, SpecsError> {
    Ok(specs.find(name)?.filter(|feature| feature.shelf != Shelf::Archive))
}

pub(super) fn attach(
    project: &Path,
    workflow: Workflow,
    name: Option<&str>,
) -> Result<AttachedFeature, SpecsError> {
    let Some(name) = name else { return Ok(AttachedFeature::Nothing) };
    if workflow.specs_docs() == SpecsDocs::None {
        return Ok(AttachedFeature::Ignored(name.to_owned()));
    }
    let specs = Specs::new(project);
    match existing(&specs, name)? {
        Some(feature) if feature.shelf == Shelf::InProgress => Ok(AttachedFeature::Joined(feature)),
        Some(feature) => specs
            .shift(name, Shelf::InProgress)
            .map(|resumed| AttachedFeature::Resumed(resumed, feature.shelf)),
        None => create(&specs, workflow, name).map(AttachedFeature::Created),
    }
}

fn create(specs: &Specs, workflow: Workflow, name: &str) -> Result<Feature, SpecsError> {
    let name = FeatureName::try_from(name)?;
    let now = clock::to_iso(clock::now());
    specs.create(&name, workflow.specs_docs(), Some(workflow), &now, Shelf::InProgress)
}
