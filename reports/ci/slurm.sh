#!/usr/bin/env bash
# A campaign over the nodes of a Slurm job, one process a node: sbatch reports/ci/slurm.sh OUT [OPTIONS OF VERIFY…]
# OUT lies on a file system that all nodes share, and so does this checkout. A job that was ended, at its time limit or
# for a more urgent one, goes on from its journal when it is submitted again; a requeued one does so by itself.
#SBATCH --job-name=tally
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --time=02:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
set -uo pipefail
out=${1:?usage: sbatch slurm.sh OUT [OPTIONS OF VERIFY…]}
shift
cd "${SLURM_SUBMIT_DIR:-$PWD}" || exit 3
# Built once, by the first node; TALLY_BUILD names a build that is there. It needs the MPI of `srun --mpi=TALLY_MPI`:
# pmix for Open MPI, pmi2 for MPICH.
[[ -n ${TALLY_BUILD:-} ]] || ./tally --no-cuda --no-setup doctor >&2 || exit
export TALLY_BUILD=${TALLY_BUILD:-$PWD/build/no-cuda}
to=(--out "$out")
[[ ! -f $out/journal ]] || to=(--resume "$out")
workers=${SLURM_CPUS_PER_TASK:-1}
exec srun --mpi="${TALLY_MPI:-pmix}" --kill-on-bad-exit=1 --cpus-per-task="$workers" \
  ./tally verify --across mpi --subject host --processes "$workers" "${to[@]}" "$@"
